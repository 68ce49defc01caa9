//! The comparison as comma-separated values: one line per step, variant and metric.

use analysis::{CellComparison, Comparison};
use model::{Unit, metric};
use stats::{Effect, Interval, Spread};

use super::buckets::{bucket_name, histograms};
use crate::figure::unit_name;
use crate::input::Compared;
use crate::published;
use crate::trust::waived;

/// The columns in order, each with its meaning.
///
/// An unknown value is an empty field.
pub const CSV_COLUMNS: &[(&str, &str)] = &[
    ("scope", "step, run for whole runs, histogram, or published for a published finding"),
    ("clients", "level of the clients factor"),
    ("step_index", "position of the step, from 0"),
    ("step", "the step's name"),
    ("variant", "the variant's name"),
    ("role", "base, control, or empty"),
    ("metric", "the metric's name; of a histogram, operations and bucket"),
    ("unit", "unit of median, min and max"),
    ("runs_planned", "runs per cell in the plan"),
    ("n", "runs behind this line"),
    ("median", "median of the runs; of a histogram, the share of all runs' operations"),
    ("min", "smallest run"),
    ("max", "largest run"),
    ("ratio", "ratio of geometric means, variant to base"),
    ("ratio_low", "lower limit of its 95 % interval"),
    ("ratio_high", "upper limit of its 95 % interval"),
    ("ratio_low90", "lower limit of its 90 % interval"),
    ("ratio_high90", "upper limit of its 90 % interval"),
    ("method", "how the intervals were found"),
    ("df", "degrees of freedom behind them"),
    ("p", "two-sided p-value"),
    ("q", "p adjusted for the family of comparisons"),
    ("rank_ratio", "the ratio by ranks (Hodges and Lehmann)"),
    ("rank_low", "lower limit of its interval"),
    ("rank_high", "upper limit of its interval"),
    ("detectable", "smallest difference, as a share, detected with 80 % power"),
    ("run_cov", "run-to-run coefficient of variation used, as a share"),
    (
        "verdict",
        "above, below, small_but_real, equivalent or inconclusive; bogus where none is due",
    ),
    ("why", "why it is inconclusive"),
    ("label", "true, truthy or bogus: of the whole comparison"),
    ("waived", "codes of the rules set aside, with spaces between"),
    ("against", "the variant that a published finding compares with"),
    ("against_median", "median of its runs"),
    ("published_value", "what was published of the variant"),
    ("published_against", "what was published of the other"),
    ("published_ratio", "their ratio, or higher, lower or same"),
    ("reproduction", "outcome of a published finding; bogus where no verdict is due"),
    ("claim", "the finding in words"),
    ("source", "who published it"),
    ("reasons", "why it differs by the experiment file, or why it was not measured"),
];

/// Columns of the ratio.
const RATIO_FIELDS: usize = 16;

/// Returns every metric of every step and of whole runs, then the published findings.
pub(super) fn render(compared: &Compared<'_>) -> String {
    let comparison = compared.comparison;
    let header: Vec<&str> = CSV_COLUMNS.iter().map(|(name, _)| *name).collect();
    let codes: Vec<String> = waived(compared).into_iter().map(|waiver| waiver.code).collect();
    let label = format!("{},{}", snake(compared.label), field(&codes.join(" ")));
    let none = ",".repeat(published::FIELDS);
    let mut lines = vec![header.join(",")];
    let write = |scope: &str, cell: &CellComparison| -> Vec<String> {
        let role = role(comparison, &cell.variant);
        let lines = cell.metrics.iter().map(|(metric, one)| {
            let row = Row { scope, variant: &cell.variant, role, metric };
            let line = row.line(compared, Some(&one.spread), one.versus_base.as_ref());
            format!("{line},{label}{none}")
        });
        lines.collect()
    };
    for step in &comparison.steps {
        let scope = format!("step,{},{},{}", step.clients, step.index, field(&step.name));
        lines.extend(step.cells.iter().flat_map(|cell| write(&scope, cell)));
    }
    for runs in &comparison.runs {
        let scope = format!("run,{},,", runs.clients);
        lines.extend(runs.cells.iter().flat_map(|cell| write(&scope, cell)));
    }
    for one in histograms(compared) {
        let scope = format!("histogram,{},{},{}", one.clients, one.step_index, field(one.step));
        for (bucket, share) in one.shares().into_iter().enumerate() {
            let name = format!("{} {}", one.operations, bucket_name(bucket));
            let role = role(comparison, one.variant);
            let row = Row { scope: &scope, variant: one.variant, role, metric: &name };
            let line = row.share(compared, one.runs, share);
            lines.push(format!("{line},{label}{none}"));
        }
    }
    for (finding, more) in published::lines(compared) {
        let place = finding.here.map(|here| format!("{},{}", here.clients, here.step_index));
        let place = place.unwrap_or_else(|| ",".to_owned());
        let scope = format!("published,{place},{}", field(finding.step));
        let row = Row { scope: &scope, variant: finding.variant, role: "", metric: finding.metric };
        let spread = finding.spreads.as_ref().map(|[variant, _]| variant);
        let line = row.line(compared, spread, finding.here.map(|it| &it.effect));
        lines.push(format!("{line},{label},{}", more.join(",")));
    }
    lines.join("\n") + "\n"
}

/// What a line is about.
struct Row<'a> {
    /// The first four fields.
    scope: &'a str,
    variant: &'a str,
    role: &'a str,
    metric: &'a str,
}

impl Row<'_> {
    /// Returns the fields up to the verdict on the ratio.
    fn line(
        &self,
        compared: &Compared<'_>,
        spread: Option<&Spread>,
        effect: Option<&Effect>,
    ) -> String {
        let unit = metric::find(self.metric).map_or("", |metric| unit_name(metric.unit));
        let mut fields = vec![
            self.scope.to_owned(),
            field(self.variant),
            self.role.to_owned(),
            self.metric.to_owned(),
            unit.to_owned(),
            compared.comparison.repetitions.to_string(),
        ];
        fields.push(spread.map(|it| it.n.to_string()).unwrap_or_default());
        let of = |value: fn(&Spread) -> f64| spread.map(|it| value(it).to_string());
        let values = [of(|it| it.median), of(|it| it.min), of(|it| it.max)];
        fields.extend(values.map(Option::unwrap_or_default));
        fields.extend(
            effect
                .map_or_else(|| vec![String::new(); RATIO_FIELDS], |it| ratio_fields(compared, it)),
        );
        fields.join(",")
    }

    /// Returns the fields of a share of the operations of all runs.
    fn share(&self, compared: &Compared<'_>, runs: usize, share: f64) -> String {
        let mut fields = vec![
            self.scope.to_owned(),
            field(self.variant),
            self.role.to_owned(),
            field(self.metric),
            unit_name(Unit::Share).to_owned(),
            compared.comparison.repetitions.to_string(),
            runs.to_string(),
            share.to_string(),
        ];
        fields.extend(vec![String::new(); 2 + RATIO_FIELDS]);
        fields.join(",")
    }
}

fn role(comparison: &Comparison, variant: &str) -> &'static str {
    if variant == comparison.base {
        "base"
    } else if comparison.control.as_deref() == Some(variant) {
        "control"
    } else {
        ""
    }
}

fn ratio_fields(compared: &Compared<'_>, effect: &Effect) -> Vec<String> {
    let number = |value: Option<f64>| value.map(|one| one.to_string()).unwrap_or_default();
    let limits = |of: Option<Interval>| [number(of.map(|it| it.low)), number(of.map(|it| it.high))];
    let mut fields = vec![effect.ratio.to_string()];
    fields.extend(limits(effect.interval));
    fields.extend(limits(effect.interval90));
    fields.push(snake(effect.method));
    fields.extend([effect.df, effect.p, effect.q].map(number));
    fields.push(number(effect.second_estimate.map(|second_estimate| second_estimate.ratio)));
    fields.extend(limits(effect.second_estimate.map(|second_estimate| second_estimate.interval)));
    fields.extend([effect.detectable, effect.run_cov].map(|value| value.to_string()));
    match compared.verdict(effect) {
        Some(verdict) => fields.extend([snake(verdict), effect.why.map(snake).unwrap_or_default()]),
        None => fields.extend(["bogus".to_owned(), String::new()]),
    }
    fields
}

/// Returns an enum value of the model as records write it.
pub(crate) fn snake(word: impl serde::Serialize) -> String {
    let value = serde_json::to_value(word);
    value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Returns `text` as a field, quoted where it must be.
///
/// Source: [RFC 4180], section 2, rules 5 to 7.
pub(crate) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_a_ratio_has_as_many_fields_as_one_with() {
        let first = CSV_COLUMNS.iter().position(|(name, _)| *name == "ratio").unwrap();
        let last = CSV_COLUMNS.iter().position(|(name, _)| *name == "why").unwrap();
        assert_eq!(last - first + 1, RATIO_FIELDS);
        let names: std::collections::BTreeSet<_> = CSV_COLUMNS.iter().map(|one| one.0).collect();
        assert_eq!(names.len(), CSV_COLUMNS.len(), "a name stands twice");
        let own = CSV_COLUMNS.iter().position(|(name, _)| *name == "against").unwrap();
        assert_eq!(CSV_COLUMNS.len() - own, published::FIELDS);
    }

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
