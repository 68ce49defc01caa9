//! A037: a run that is unlike the others.

use model::float;
use stats::median;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::facts::Sample;

pub(crate) static RULE: Rule = Rule {
    code: "A037",
    name: "outlier run",
    trigger: "one of at least 5 runs differs from the median of these runs by more than 10 robust \
              standard deviations and by more than 3 %; or at least 5 runs fall into two groups, \
              and the gap between the two groups is above 3 % and above 4 times the spread within \
              the groups",
    why: "A mean over runs in two states describes neither state, and the experiment does not \
          control which state a run gets.",
    remedy: "find what is different in the outlier run (assay show); the run is still counted",
    source: "[Callaghan 2022-08-23] (the shape of an LSM tree is a source of variance); our \
             choice: the limits",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// Runs from which it is reported. Our choice.
const RUNS: usize = 5;
/// Robust standard deviations from the median. Our choice.
const DEVIATIONS: f64 = 10.0;
/// From a median absolute deviation to a standard deviation of the normal distribution.
///
/// Source: [Rousseeuw Croux 1993].
const ROBUST: f64 = 1.4826;
/// Times the spread within two groups that the gap between them is. Our choice.
const GAP: f64 = 4.0;
/// Difference of logarithms below which nothing is reported: that of a quiet machine.
const MATTERS: f64 = 0.03;

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let observe = |sample: &Sample<'_>| {
        if sample.runs.len() < RUNS || sample.values().iter().any(|value| *value <= 0.0) {
            return None;
        }
        let evidence = outlier(sample).or_else(|| groups(sample))?;
        Some(evidence.step(&sample.step.name).variant(sample.variant))
    };
    context.samples().iter().filter_map(observe).collect()
}

fn outlier(sample: &Sample<'_>) -> Option<Observation> {
    let logs: Vec<f64> = sample.values().iter().map(|value| value.ln()).collect();
    let middle = median(&logs)?;
    let distances: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    let deviation = median(&distances)? * ROBUST;
    let limit = (DEVIATIONS * deviation).max(MATTERS);
    let far = sample.runs.iter().zip(&distances).filter(|(_, distance)| **distance > limit);
    let ((run, value), distance) = far.max_by(|a, b| a.1.total_cmp(b.1))?;
    let times = value / middle.exp();
    let evidence = format!("one run is {times:.2}x the median of {} runs", sample.runs.len());
    Some(Observation::new(evidence).run(&run.id).ranked("outlier", *distance))
}

/// Reports two groups of at least two runs each.
fn groups(sample: &Sample<'_>) -> Option<Observation> {
    let mut logs: Vec<f64> = sample.values().iter().map(|value| value.ln()).collect();
    logs.sort_by(f64::total_cmp);
    let splits = (2..=logs.len() - 2).map(|at| (at, logs[at] - logs[at - 1]));
    let (at, gap) = splits.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let squares = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / float(part.len());
        part.iter().map(|log| (log - mean).powi(2)).sum::<f64>()
    };
    let within = ((squares(&logs[..at]) + squares(&logs[at..])) / (float(logs.len()) - 2.0)).sqrt();
    (gap > MATTERS.max(GAP * within)).then(|| {
        let (low, high) = (at, logs.len() - at);
        let apart = 100.0 * (gap.exp() - 1.0);
        let evidence = format!("runs fall into two groups of {low} and {high}, {apart:.0} % apart");
        Observation::new(evidence).ranked("groups", gap)
    })
}

#[cfg(test)]
mod tests {
    use model::Nanos;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, run};

    fn with(seconds: [u64; 6]) -> Vec<(Severity, String)> {
        let of = |(repetition, ms): (u32, u64)| {
            let mut run = run("a", repetition);
            run.steps[0].duration_ns = Nanos::from_millis(ms);
            run
        };
        let runs: Vec<_> = (1..).zip(seconds).map(of).collect();
        in_runs(&RULE, &experiment(&["a"]), &runs)
    }

    #[test]
    fn a_run_far_from_the_others_is_reported() {
        assert_eq!(with([60_000, 60_100, 59_900, 60_050, 59_950, 61_000]), []);
        let evidence = "readrandom of a: one run is 0.75x the median of 6 runs (1 run)";
        let found = with([60_000, 60_100, 59_900, 60_050, 59_950, 80_000]);
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn two_groups_are_reported() {
        let evidence = "readrandom of a: runs fall into two groups of 3 and 3, 10 % apart";
        let found = with([60_000, 60_100, 59_900, 66_050, 65_950, 66_000]);
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }
}
