//! A047: a control that differs from the base.

use analysis::StepComparison;
use model::record::Severity;
use stats::Verdict;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

/// The control run differs from its base.
pub static RULE: Rule = Rule {
    code: "A047",
    name: "control differs",
    severity: Severity::Blocking,
    trigger: "one of a step's own metrics is above or below the base in the control variant (the \
              test is adjusted for all steps). The finding blocks the verdicts of this step in \
              every variant",
    why: "The control variant is the base under another name, so a difference between the two \
          comes from the machine. Differences between other variants and the base in this step are \
          uncertain by the same amount. One experiment in 20 has such a finding by chance.",
    remedy: "find what changes from run to run on this machine, then repeat all runs",
    source: "[Callaghan 2023-01-02] (false positives); our choice: the finding blocks the step, \
             although one experiment in 20 has the finding by chance",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let Some(control) = context.comparison.control.as_deref() else { return Vec::new() };
    let observe = |step: &StepComparison| {
        let cell = step.cells.iter().find(|cell| cell.variant == control)?;
        let effects = step.own_metrics().filter_map(|metric| cell.metric(metric)?.versus_base);
        let found = effects.filter(|one| matches!(one.verdict, Verdict::Above | Verdict::Below));
        let ratio = found.map(|one| one.ratio).max_by(|a, b| size(*a).total_cmp(&size(*b)))?;
        let evidence = format!("{control}, a copy of the base, is {ratio:.2}x the base");
        Some(Observation::new(evidence).step(&step.name).ranked("", size(ratio)))
    };
    context.comparison.steps.iter().filter_map(observe).collect()
}

/// Returns the size of a difference, whatever its direction.
fn size(ratio: f64) -> f64 {
    ratio.ln().abs()
}

#[cfg(test)]
mod tests {
    use model::Nanos;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    fn with(ms: u64) -> Vec<(Severity, String)> {
        let (mut spec, mut runs) = (experiment(&["a", "a-again"]), runs(&["a", "a-again"]));
        spec.variants[1].is_control = true;
        for run in &mut runs {
            let own = if run.cell.variant == "a" { 60_000 } else { ms };
            let jitter = 10 * u64::from(run.cell.repetition);
            run.steps[0].duration_ns = Nanos::from_millis(own + jitter);
        }
        in_runs(&RULE, &spec, &runs)
    }

    #[test]
    fn a_control_that_differs_from_the_base_is_blocking() {
        assert_eq!(with(60_000), []);
        let evidence = "readrandom: a-again, a copy of the base, is 0.91x the base";
        assert_eq!(with(66_000), [(Severity::Blocking, evidence.to_owned())]);
    }
}
