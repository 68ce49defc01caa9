//! A047: a difference between the base and itself.

use model::record::Severity;
use stats::Verdict;

use super::{Rule, Seen};
use crate::context::ComparisonContext;

/// The control, which is the base once more, was found to differ from it.
pub(crate) static RULE: Rule = Rule {
    code: "A047",
    name: "control differs",
    severity: Severity::Blocking,
    trigger: "a step's own metric of the control variant has a verdict other than equal, with a \
              chance below 1 % over all steps; a doubt below 5 % in one step",
    why: "The control is the base under another name: what is found between the two is the machine, \
          and every other difference is in doubt by as much.",
    remedy: "find out what changes from run to run on this machine, then run all of it again",
    source: "seed 002, \"Variance in RocksDB benchmarks on cloud HW\" (false positives); reference, \
             analysis, section 8 (A/A false alarms)",
    comparison: Some(comparison),
    ..Rule::SILENT
};

/// Chance of one such verdict, over all steps, that blocks the others.
const CHANCE: f64 = 0.01;

fn comparison(context: &ComparisonContext<'_>) -> Vec<Seen> {
    let Some(control) = context.comparison.control.as_deref() else { return Vec::new() };
    let effects = context.comparison.steps.iter().filter_map(|step| {
        let cell = step.cells.iter().find(|cell| cell.variant == control)?;
        Some((step, cell.metric(step.primary?)?.versus_base?))
    });
    let all: Vec<_> = effects.collect();
    let tests = f64::from(u32::try_from(all.len()).unwrap_or(u32::MAX));
    let tell = |(step, effect): &(&analysis::StepComparison, stats::Effect)| {
        let (Verdict::Above | Verdict::Below) = effect.verdict else { return None };
        // Bonferroni: the chance of one such verdict among as many tests as there are.
        let is_grave = effect.p.is_some_and(|p| p * tests < CHANCE);
        let severity = if is_grave { Severity::Blocking } else { Severity::Warning };
        let evidence = format!("{:.2} times the base, which it is", effect.ratio);
        let evidence = Seen::new(evidence).step(&step.name).variant(control).graded(severity);
        Some(evidence.sized("", effect.ratio.ln().abs()))
    };
    all.iter().filter_map(tell).collect()
}

#[cfg(test)]
mod tests {
    use model::Nanos;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    fn with(ms: u64) -> Vec<(Severity, String)> {
        let (mut asked, mut runs) = (experiment(&["a", "a-again"]), runs(&["a", "a-again"]));
        asked.variants[1].is_control = true;
        for run in &mut runs {
            let own = if run.cell.variant == "a" { 60_000 } else { ms };
            let jitter = 10 * u64::from(run.cell.repetition);
            run.steps[0].duration_ns = Nanos::from_millis(own + jitter);
        }
        in_runs(&RULE, &asked, &runs)
    }

    #[test]
    fn a_control_that_differs_from_the_base_is_blocking() {
        assert_eq!(with(60_000), []);
        let evidence = "readrandom of a-again: 0.91 times the base, which it is";
        assert_eq!(with(66_000), [(Severity::Blocking, evidence.to_owned())]);
    }
}
