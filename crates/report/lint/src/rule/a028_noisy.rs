//! A028: noise between runs of one variant.

use model::percent;
use stats::Variation;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::facts::Sample;

pub(crate) static RULE: Rule = Rule {
    code: "A028",
    name: "noisy set-up",
    trigger: "the coefficient of variation of a step's own metric over at least 3 runs is above 3 \
              %",
    why: "Noise hides differences: at 3 % and three runs, a difference below 10 % is seldom \
          detected.",
    remedy: "measure for longer, quiet the host, or run more repetitions; `assay show` marks an \
             outlier run",
    source: "[Callaghan 2023-01-02] (a good result is a coefficient of variation of at most .03)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// Coefficient of variation above which it is reported. Source: [Callaghan 2023-01-02].
const COV: f64 = 0.03;
/// Runs from which a variation is computed.
const RUNS: usize = 3;
/// Runs below which a variation is poorly known. Our choice.
const POORLY: usize = 5;

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let observe = |sample: &Sample<'_>| {
        let count = sample.runs.len();
        let known = Variation::of(&sample.values()).filter(|one| count >= RUNS && one.cov > COV)?;
        let poorly = if count < POORLY { "; this estimate is poor" } else { "" };
        let evidence = format!(
            "varies by {} from run to run (95 %: [{}, {}]{poorly})",
            percent(known.cov),
            percent(known.low),
            percent(known.high)
        );
        let evidence = Observation::new(evidence).step(&sample.step.name).variant(sample.variant);
        let evidence =
            sample.runs.iter().fold(evidence, |evidence, (run, _)| evidence.run(&run.id));
        Some(evidence.ranked("", known.cov))
    };
    context.samples().iter().filter_map(observe).collect()
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
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
    fn runs_that_vary_are_reported_with_their_interval() {
        assert_eq!(with([60_000, 60_600, 59_400]), []);
        // ln 1.1 and 0 and -ln 1.1: a standard deviation of 9.53 %, and 2 degrees of freedom.
        let evidence = "readrandom of a: varies by 9.6 % from run to run (95 %: [5.0 %, 66 %]; \
                        this estimate is poor) (3 runs)";
        assert_eq!(with([60_000, 66_000, 54_545]), [(Severity::Warning, evidence.to_owned())]);
    }
}
