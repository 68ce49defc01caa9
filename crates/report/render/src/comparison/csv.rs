//! The comparison for spreadsheets: one line per step, variant and metric.

use analysis::{CellComparison, Comparison, Measured};
use model::{Expected, Unit, metric};
use serde_json::{Value, json};
use stats::{Effect, Interval, Spread};

use super::buckets::{bucket_name, histograms};
use crate::document::{Rows, merged, ratio_fields, snake};
use crate::figure::unit_name;
use crate::input::Compared;
use crate::label::level_suffix;
use crate::published::{Publication, publications};
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
    ("ratio_low", "lower limit of the ratio's 95 % interval"),
    ("ratio_high", "upper limit of the ratio's 95 % interval"),
    ("ratio_low90", "lower limit of the ratio's 90 % interval"),
    ("ratio_high90", "upper limit of the ratio's 90 % interval"),
    ("method", "how the intervals were found"),
    ("df", "degrees of freedom of the intervals"),
    ("p", "two-sided p-value"),
    ("q", "p adjusted for the family of comparisons"),
    ("rank_ratio", "the ratio by ranks (Hodges and Lehmann)"),
    ("rank_low", "lower limit of the interval of rank_ratio"),
    ("rank_high", "upper limit of the interval of rank_ratio"),
    ("detectable", "smallest difference, as a share, detected with 80 % power"),
    ("run_cov", "run-to-run coefficient of variation used, as a share"),
    (
        "verdict",
        "above, below, small_but_real, equivalent or inconclusive; bogus if a warning blocks it",
    ),
    ("why", "why the verdict is inconclusive"),
    ("label", "verdict on the whole comparison: true, truthy, undecided, bogus or nothing"),
    ("waived", "codes of the waived rules, separated by spaces"),
    ("against", "the variant that a published finding compares with"),
    ("against_mean", "mean of the runs of the variant in `against`"),
    ("published_value", "published value of the variant"),
    ("published_against", "published value of the other variant"),
    ("published_ratio", "ratio of the published values, or higher, lower or same"),
    ("reproduction", "outcome of a published finding; bogus if a warning blocks the verdict"),
    ("claim", "the finding in words"),
    ("source", "who published it"),
    ("reasons", "the author's reasons for a different result, or why the finding was not measured"),
];

/// Returns every metric of every step and of whole runs, then the published findings.
pub(super) fn rows(compared: &Compared<'_>) -> Rows {
    let comparison = compared.comparison;
    let mut lines = Vec::new();
    for step in &comparison.steps {
        let (clients, index) = (step.clients.level, step.index);
        let place = json!({ "clients": clients, "step_index": index, "step": step.name });
        lines.extend(of_cells(compared, "step", &place, &step.cells));
        for part in &step.parts {
            let named = merged([place.clone(), json!({ "part": part.name.name })]);
            lines.extend(of_cells(compared, &snake(part.name.kind), &named, &part.cells));
        }
    }
    for runs in &comparison.runs {
        lines.extend(of_cells(compared, "run", &json!({ "clients": runs.clients }), &runs.cells));
    }
    for one in histograms(compared) {
        for (bucket, share) in one.shares().into_iter().enumerate() {
            lines.push(json!({
                "scope": "histogram",
                "clients": one.clients,
                "step_index": one.step_index,
                "step": one.step,
                "variant": one.variant,
                "role": role(comparison, one.variant),
                "metric": format!("{} {}", one.operations, bucket_name(&one.bounds_ns, bucket)),
                "unit": unit_name(Unit::Share),
                "n": one.runs,
                "mean": share,
            }));
        }
    }
    lines.extend(published(compared));
    let codes: Vec<String> = waived(compared).into_iter().map(|waiver| waiver.code).collect();
    let whole = json!({
        "runs_planned": comparison.repetitions,
        "label": compared.label,
        "waived": codes.join(" "),
    });
    let lines = lines.into_iter().map(|line| merged([line, whole.clone()]));
    Rows::of(CSV_COLUMNS.iter().map(|(name, _)| *name), lines)
}

/// Returns a line for each metric of some cells.
fn of_cells(
    compared: &Compared<'_>,
    scope: &str,
    place: &Value,
    cells: &[CellComparison],
) -> Vec<Value> {
    let line = |cell: &CellComparison, metric: &str, one: &Measured| {
        let role = role(compared.comparison, &cell.variant);
        let about = json!({ "scope": scope, "variant": cell.variant, "role": role });
        let figures = figures(compared, metric, Some(&one.spread), one.versus_base.as_ref());
        merged([about, place.clone(), figures])
    };
    let of_cell = |cell| {
        let cell: &CellComparison = cell;
        cell.metrics.iter().map(move |(metric, one)| line(cell, metric, one))
    };
    cells.iter().flat_map(of_cell).collect()
}

/// Returns a line for each published finding.
fn published(compared: &Compared<'_>) -> Vec<Value> {
    let mut lines = Vec::new();
    for Publication { source, findings, .. } in publications(compared) {
        for finding in findings {
            let (here, there) = (finding.here, finding.published);
            let spread = |at: usize| finding.spreads.as_ref().map(|both| &both[at]);
            let effect = here.map(|here| &here.effect);
            let level = finding.base_clients.map(level_suffix).unwrap_or_default();
            let relation = there.expected;
            let expected =
                if let Expected::Ratio(ratio) = relation { json!(ratio) } else { json!(relation) };
            let own = json!({
                "scope": "published",
                "clients": here.map(|here| here.clients.level),
                "step_index": here.map(|here| here.step_index),
                "step": finding.step,
                "variant": finding.variant,
                "against": format!("{}{level}", finding.base),
                "against_mean": spread(1).map(|spread| spread.mean),
                "published_value": there.value,
                "published_against": there.base_value,
                "published_ratio": expected,
                "reproduction": finding.outcome().map_or_else(|| "bogus".to_owned(), snake),
                "claim": finding.claim,
                "source": source,
                "reasons": finding.reasons.join("; "),
            });
            lines.push(merged([own, figures(compared, finding.metric, spread(0), effect)]));
        }
    }
    lines
}

/// Returns what is known of the runs and the ratio.
fn figures(
    compared: &Compared<'_>,
    metric: &str,
    spread: Option<&Spread>,
    effect: Option<&Effect>,
) -> Value {
    let unit = metric::find(metric).map(|metric| unit_name(metric.unit));
    let spread =
        spread.map(|it| json!({ "n": it.n, "mean": it.mean, "min": it.min, "max": it.max }));
    let ratio = effect.map(|effect| ratio(compared, effect));
    let head = json!({ "metric": metric, "unit": unit });
    merged([head].into_iter().chain(spread).chain(ratio))
}

fn role(comparison: &Comparison, variant: &str) -> Option<&'static str> {
    let is_control = comparison.control.as_deref() == Some(variant);
    if variant == comparison.base { Some("base") } else { is_control.then_some("control") }
}

fn ratio(compared: &Compared<'_>, effect: &Effect) -> Value {
    let limits = |of: Option<Interval>| (of.map(|it| it.low), of.map(|it| it.high));
    let (low90, high90) = limits(effect.interval90);
    let (rank_low, rank_high) = limits(effect.second_estimate.map(|it| it.interval));
    let verdict = compared.verdict(effect);
    let more = json!({
        "ratio_low90": low90,
        "ratio_high90": high90,
        "method": effect.method,
        "df": effect.df,
        "p": effect.p,
        "q": effect.q,
        "rank_ratio": effect.second_estimate.map(|it| it.ratio),
        "rank_low": rank_low,
        "rank_high": rank_high,
        "detectable": effect.detectable,
        "run_cov": effect.run_cov,
        "verdict": verdict.map_or_else(|| "bogus".to_owned(), snake),
        "why": verdict.and(effect.why),
    });
    merged([ratio_fields(Some(effect)), more])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_once() {
        let names: std::collections::BTreeSet<_> = CSV_COLUMNS.iter().map(|one| one.0).collect();
        assert_eq!(names.len(), CSV_COLUMNS.len(), "a name stands twice");
    }
}
