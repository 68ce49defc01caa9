//! A028: runs of one variant differ among themselves.

use model::record::Severity;
use stats::Variation;

use super::{Rule, Seen};
use crate::context::ComparisonContext;
use crate::look::{Arm, arms, percent};

/// Repetitions differ more than a good set-up lets them.
pub(crate) static RULE: Rule = Rule {
    code: "A028",
    name: "noisy set-up",
    severity: Severity::Warning,
    trigger: "the coefficient of variation of a step's own metric over at least 3 runs is above 3 %",
    why: "Noise hides differences: at 3 % and three runs, what is below 10 % is seldom seen.",
    remedy: "measure for longer, quiet the host, or run more repetitions; assay show tells which run \
             is apart",
    source: "seed 002, \"Variance in RocksDB benchmarks on cloud HW\" (a good result is a coefficient \
             of variation of at most .03); reference, analysis, sections 1.5 and 7, L28",
    comparison: Some(comparison),
    ..Rule::SILENT
};

/// Coefficient of variation from which it is told. Source: seed 002; the reference, analysis, L28.
const COV: f64 = 0.03;
/// Runs from which a variation says anything at all.
const RUNS: usize = 3;
/// Runs below which a variation is poorly known. Source: the reference, analysis, L28.
const POORLY: usize = 5;

fn comparison(context: &ComparisonContext<'_>) -> Vec<Seen> {
    let tell = |arm: &Arm<'_>| {
        let count = arm.runs.len();
        let known = Variation::of(&arm.values()).filter(|one| count >= RUNS && one.cov > COV)?;
        let poorly = if count < POORLY { "; poorly known" } else { "" };
        let evidence = format!(
            "varies by {} from run to run (95 %: [{}, {}]{poorly})",
            percent(known.cov),
            percent(known.low),
            percent(known.high)
        );
        let evidence = Seen::new(evidence).step(&arm.step.name).variant(arm.variant);
        let evidence = arm.runs.iter().fold(evidence, |evidence, (run, _)| evidence.run(&run.id));
        Some(evidence.sized("", known.cov))
    };
    arms(context).iter().filter_map(tell).collect()
}

#[cfg(test)]
mod tests {
    use model::{Nanos, RunRecord};

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    fn with(ms: [u64; 3]) -> Vec<(Severity, String)> {
        let mut runs: Vec<RunRecord> = runs(&["a"]);
        for (run, ms) in runs.iter_mut().zip(ms) {
            run.steps[0].duration_ns = Nanos::from_millis(ms);
        }
        in_runs(&RULE, &experiment(&["a"]), &runs)
    }

    #[test]
    fn runs_that_vary_are_told_with_how_well_that_is_known() {
        assert_eq!(with([60_000, 60_600, 59_400]), []);
        // ln 1.1 and 0 and -ln 1.1: a standard deviation of 9.53 %, and 2 degrees of freedom.
        let evidence = "readrandom of a: varies by 9.6 % from run to run (95 %: [5.0 %, 66 %]; poorly \
                    known) (3 runs)";
        assert_eq!(with([60_000, 66_000, 54_545]), [(Severity::Warning, evidence.to_owned())]);
    }
}
