//! The comparison for spreadsheets: one line per step, variant and metric.

use analysis::{CellComparison, Comparison};
use model::{Unit, metric};
use stats::{Effect, Interval, Spread};

use super::buckets::{bucket_name, histograms};
use crate::document::{Rows, number, snake};
use crate::figure::unit_name;
use crate::input::Compared;
use crate::published;
use crate::trust::waived;

/// The columns in order, each with its meaning.
///
/// An unknown value is an empty field.
pub const CSV_COLUMNS: &[(&str, &str)] = &[
    (
        "scope",
        "step; operation, procedure, statement or event for a part of a step; run for whole runs, \
         histogram, or published for a published finding",
    ),
    ("clients", "level of the clients factor"),
    ("step_index", "position of the step, from 0"),
    ("step", "the step's name"),
    ("part", "name of the part of the step"),
    ("variant", "the variant's name"),
    ("role", "base, control, or empty"),
    ("metric", "the metric's name; for a histogram, operations and bucket"),
    ("unit", "unit of mean, min and max"),
    ("runs_planned", "runs per cell in the plan"),
    ("n", "runs behind this line"),
    (
        "mean",
        "geometric mean of the runs (arithmetic if a run gave 0); for a histogram, the share of \
         all runs' operations",
    ),
    ("min", "smallest run"),
    ("max", "largest run"),
    ("ratio", "ratio of the means, variant to base; absent if a run gave 0"),
    ("ratio_low", "lower limit of its 95 % interval"),
    ("ratio_high", "upper limit of its 95 % interval"),
    ("ratio_low90", "lower limit of its 90 % interval"),
    ("ratio_high90", "upper limit of its 90 % interval"),
    ("method", "how the intervals were found"),
    ("df", "degrees of freedom of the intervals"),
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
    ("label", "verdict on the whole comparison: true, truthy, undecided, bogus or nothing"),
    ("waived", "codes of the waived rules, separated by spaces"),
    ("against", "the variant that a published finding compares with"),
    ("against_mean", "mean of its runs"),
    ("published_value", "published value of the variant"),
    ("published_against", "published value of the other variant"),
    ("published_ratio", "their ratio, or higher, lower or same"),
    ("reproduction", "outcome of a published finding; bogus where no verdict is due"),
    ("claim", "the finding in words"),
    ("source", "who published it"),
    ("reasons", "why it differs by the experiment file, or why it was not measured"),
];

/// Number of columns up to the label of the comparison.
const BEFORE_LABEL: usize = 30;

/// Returns every metric of every step and of whole runs, then the published findings.
pub(super) fn rows(compared: &Compared<'_>) -> Rows {
    let comparison = compared.comparison;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let of_cell = |place: &Place<'_>, cell: &CellComparison| -> Vec<Vec<String>> {
        let role = role(comparison, &cell.variant);
        let metrics = cell.metrics.iter().map(|(metric, one)| {
            let row = Row { place, variant: &cell.variant, role, metric };
            row.fields(compared, Some(&one.spread), one.versus_base.as_ref())
        });
        metrics.collect()
    };
    for step in &comparison.steps {
        let mut place = Place::of(("step", ""), (step.clients.level, Some(step.index)), &step.name);
        rows.extend(step.cells.iter().flat_map(|cell| of_cell(&place, cell)));
        for part in &step.parts {
            (place.scope, place.part) = (snake(part.name.kind), &part.name.name);
            rows.extend(part.cells.iter().flat_map(|cell| of_cell(&place, cell)));
        }
    }
    for runs in &comparison.runs {
        let place = Place::of(("run", ""), (runs.clients, None), "");
        rows.extend(runs.cells.iter().flat_map(|cell| of_cell(&place, cell)));
    }
    for one in histograms(compared) {
        let place = Place::of(("histogram", ""), (one.clients, Some(one.step_index)), one.step);
        for (bucket, share) in one.shares().into_iter().enumerate() {
            let name = format!("{} {}", one.operations, bucket_name(&one.bounds_ns, bucket));
            let role = role(comparison, one.variant);
            let row = Row { place: &place, variant: one.variant, role, metric: &name };
            let figures =
                [unit_name(Unit::Share).to_owned(), one.runs.to_string(), share.to_string()];
            rows.push(row.with(compared, figures));
        }
    }
    for (finding, more) in published::lines(compared) {
        let here = finding.here;
        let place = Place {
            scope: "published".to_owned(),
            clients: here.map(|here| here.clients.level),
            index: here.map(|here| here.step_index),
            step: finding.step,
            part: "",
        };
        let row = Row { place: &place, variant: finding.variant, role: "", metric: finding.metric };
        let spread = finding.spreads.as_ref().map(|[variant, _]| variant);
        let mut row = row.fields(compared, spread, finding.here.map(|it| &it.effect));
        row.extend(more);
        rows.push(row);
    }
    for row in &mut rows {
        row.resize(CSV_COLUMNS.len(), String::new());
    }
    Rows::new(CSV_COLUMNS.iter().map(|(name, _)| name), rows)
}

/// Where a line's figures were measured.
struct Place<'a> {
    scope: String,
    clients: Option<u32>,
    index: Option<u32>,
    step: &'a str,
    part: &'a str,
}

impl<'a> Place<'a> {
    fn of(
        (scope, part): (&str, &'a str),
        (clients, index): (u32, Option<u32>),
        step: &'a str,
    ) -> Self {
        Self { scope: scope.to_owned(), clients: Some(clients), index, step, part }
    }
}

/// What a line is about.
struct Row<'a> {
    place: &'a Place<'a>,
    variant: &'a str,
    role: &'a str,
    metric: &'a str,
}

impl Row<'_> {
    /// Returns the fields up to the label, with what is known of the runs and the ratio.
    fn fields(
        &self,
        compared: &Compared<'_>,
        spread: Option<&Spread>,
        effect: Option<&Effect>,
    ) -> Vec<String> {
        let unit = metric::find(self.metric).map_or("", |metric| unit_name(metric.unit));
        let n = spread.map(|it| it.n.to_string()).unwrap_or_default();
        let of = |value: fn(&Spread) -> f64| number(spread.map(value));
        let mut rest = vec![unit.to_owned(), n, of(|it| it.mean), of(|it| it.min), of(|it| it.max)];
        rest.extend(effect.into_iter().flat_map(|effect| ratio_fields(compared, effect)));
        self.with(compared, rest)
    }

    /// Returns the fields up to the label; `rest` has the unit, the number of runs and figures.
    fn with(&self, compared: &Compared<'_>, rest: impl IntoIterator<Item = String>) -> Vec<String> {
        let Place { scope, clients, index, step, part } = self.place;
        let text = |number: &Option<u32>| number.map(|it| it.to_string()).unwrap_or_default();
        let (clients, index) = (text(clients), text(index));
        let place = [scope.as_str(), &clients, &index, step, part];
        let names = place.into_iter().chain([self.variant, self.role, self.metric]);
        let mut fields: Vec<String> = names.map(str::to_owned).collect();
        let mut rest = rest.into_iter();
        fields.extend(rest.next());
        fields.push(compared.comparison.repetitions.to_string());
        fields.extend(rest);
        fields.resize(BEFORE_LABEL, String::new());
        let codes: Vec<String> = waived(compared).into_iter().map(|waiver| waiver.code).collect();
        fields.extend([snake(compared.label), codes.join(" ")]);
        fields
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_once_and_the_label_follows_the_ratio() {
        let place = |wanted: &str| CSV_COLUMNS.iter().position(|(name, _)| *name == wanted);
        assert_eq!(place("label"), Some(BEFORE_LABEL));
        let names: std::collections::BTreeSet<_> = CSV_COLUMNS.iter().map(|one| one.0).collect();
        assert_eq!(names.len(), CSV_COLUMNS.len(), "a name stands twice");
    }
}
