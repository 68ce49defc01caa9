//! A047: a control that differs from the base.

use model::float;
use model::record::Severity;
use stats::Verdict;

use super::{Observation, Rule, code};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: code::A047,
    name: "control differs",
    severity: Severity::Blocking,
    trigger: "a step's own metric of the control variant has a verdict other than equal, with a \
              chance below 1 % over all steps; a warning below 5 %",
    why: "The control is the base under another name: what is found between the two is the \
          machine, and every other difference is uncertain by as much.",
    remedy: "find out what changes from run to run on this machine, then run all of it again",
    source: "[Callaghan 2023-01-02] (false positives); our choice: 1 %",
    comparison: Some(comparison),
    ..Rule::EMPTY
};

/// Chance of one such verdict, over all steps, that blocks the others.
const CHANCE: f64 = 0.01;

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let Some(control) = context.comparison.control.as_deref() else { return Vec::new() };
    let effects = context.comparison.steps.iter().filter_map(|step| {
        let cell = step.cells.iter().find(|cell| cell.variant == control)?;
        Some((step, cell.metric(step.primary?)?.versus_base?))
    });
    let all: Vec<_> = effects.collect();
    let tests = float(all.len());
    let observe = |(step, effect): &(&analysis::StepComparison, stats::Effect)| {
        let (Verdict::Above | Verdict::Below) = effect.verdict else { return None };
        // Bonferroni: the chance of one such verdict among as many tests as there are.
        let is_severe = effect.p.is_some_and(|p| p * tests < CHANCE);
        let evidence = format!("{:.2} times the base, which it is", effect.ratio);
        let evidence =
            Observation::new(evidence).step(&step.name).variant(control).blocking_if(is_severe);
        Some(evidence.ranked("", effect.ratio.ln().abs()))
    };
    all.iter().filter_map(observe).collect()
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
        let evidence = "readrandom of a-again: 0.91 times the base, which it is";
        assert_eq!(with(66_000), [(Severity::Blocking, evidence.to_owned())]);
    }
}
