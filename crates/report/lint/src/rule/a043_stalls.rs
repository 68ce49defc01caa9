//! A043: whole seconds without an operation.

use model::StepRecord;

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A043",
    name: "stalls",
    trigger: "no operation ended during a whole second of a step",
    why: "A mean hides the stall, and every operation that was due in that second waited.",
    remedy: "read the throughput of each second (assay show)",
    source: "[Callaghan 2022-08-23] (define your goals: stalls show in throughput over time)",
    ..Rule::of(Checks { steps: &[stalled], ..Checks::NONE })
};

fn stalled(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let stalled = step.seconds.stalled_seconds;
    // The record does not mark which of them were invalid.
    let invalid =
        if step.invalid_intervals.is_some() { ", which include invalid seconds" } else { "" };
    (stalled > 0).then(|| {
        let of = step.seconds.seconds;
        let evidence = format!("no operation ended in {stalled} of {of} whole seconds{invalid}");
        Observation::new(evidence).ranked("", stalled as f64)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::when;

    #[test]
    fn seconds_in_which_nothing_was_done_are_reported() {
        let with = |stalled| {
            when(&RULE, |step| {
                (step.seconds.seconds, step.seconds.stalled_seconds) = (60, stalled);
            })
        };
        assert_eq!(with(0), []);
        let evidence = "readrandom of b: no operation ended in 4 of 60 whole seconds (3 runs)";
        assert_eq!(with(4), [(Severity::Warning, evidence.to_owned())]);
    }
}
