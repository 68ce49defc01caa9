//! Hidden regressions: the same speed for more CPU, memory or bytes written.

use analysis::{CellComparison, StepComparison};
use stats::{Effect, Verdict};

use super::claim::Claim;
use super::phrase::list;
use super::single::{amount_alone, lies_within, plain};
use crate::figure::declared;
use crate::input::Compared;
use crate::label::step_heading;

/// Costs that may have grown: metric, name, smallest median that matters.
///
/// Journals of engine and file system write less than 16 bytes per operation in a read step.
const COSTS: [(&str, &str, f64); 3] = [
    ("cpu_us_per_op", "CPU per operation", 0.0),
    ("rss_peak_bytes", "peak memory", 0.0),
    ("device_write_kib_per_op", "bytes written per operation", 1.0 / 64.0),
];

/// Returns a sentence for each variant and step that is as fast as the base and costs more.
///
/// As fast: no difference beyond the margin. Costing more: the verdict is above.
///
/// Our choice: the same throughput for more resources is a regression too.
pub(crate) fn hidden(compared: &Compared<'_>) -> Vec<String> {
    let comparison = compared.comparison;
    let is_variant = |cell: &&CellComparison| !compared.is_control(&cell.variant);
    let of_step = |step: &StepComparison| {
        let claim = Claim::of(step).into_iter().find(|it| it.metric == step.primary.unwrap_or(""));
        let sentence = |cell: &CellComparison| {
            let claim = claim?;
            let speed = cell.metric(claim.metric)?.versus_base.as_ref()?;
            compared.verdict(speed)?;
            let is_same = speed.interval90.is_some_and(|it| lies_within(&it, comparison.margin));
            let grown = grown(cell);
            let names: Vec<&str> = grown.iter().map(String::as_str).collect();
            (is_same && !grown.is_empty()).then(|| {
                format!(
                    "{}: hidden regression: {} shows no difference in {} beyond {} ({}), and costs \
                     more: {}.",
                    step_heading(comparison, step),
                    cell.variant,
                    claim.noun,
                    declared(comparison.margin),
                    amount_alone(speed),
                    list(&names)
                )
            })
        };
        step.cells.iter().filter(is_variant).filter_map(sentence).collect::<Vec<_>>()
    };
    comparison.steps.iter().flat_map(of_step).collect()
}

/// Returns the costs of which it is established that they are above the base's.
fn grown(cell: &CellComparison) -> Vec<String> {
    let above = |name: &str, least: f64| -> Option<Effect> {
        let measured = cell.metric(name).filter(|one| one.spread.median >= least)?;
        measured.versus_base.filter(|effect| effect.verdict == Verdict::Above)
    };
    let text = |(name, label, least): &(&str, &str, f64)| {
        Some(format!("{label} {}", plain(&above(name, *least)?)))
    };
    COSTS.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sample, effect};
    use super::*;

    #[test]
    fn same_speed_for_more_cpu_is_a_hidden_regression() {
        let with = |speed: Verdict, cpu: Verdict| {
            let mut sample = Sample::of(&[("new", 3, effect(1.002, 0.991, 1.013, speed))]);
            let cell = &mut sample.comparison.steps[0].cells[1];
            let mut cost = cell.metrics["throughput_ops_per_s"];
            cost.versus_base = effect(1.14, 1.11, 1.17, cpu);
            cell.metrics.insert("cpu_us_per_op".to_owned(), cost);
            sample.with(hidden)
        };
        let found = with(Verdict::Equivalent, Verdict::Above);
        insta::assert_snapshot!(found.join("\n"), @r"
        readrandom: hidden regression: new shows no difference in operations per second beyond 2 % (+0.2 %), and costs more: CPU per operation +14 % [+11 %, +17 %].
        ");
        assert!(with(Verdict::Equivalent, Verdict::Inconclusive).is_empty());
        let mut slower = Sample::of(&[("new", 3, effect(0.9, 0.88, 0.92, Verdict::Below))]);
        let cell = &mut slower.comparison.steps[0].cells[1];
        let cost = cell.metrics["throughput_ops_per_s"];
        cell.metrics.insert("cpu_us_per_op".to_owned(), cost);
        assert!(slower.with(hidden).is_empty());
    }
}
