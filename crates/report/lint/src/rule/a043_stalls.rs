//! A043: whole seconds in which nothing was done.

use model::StepRecord;
use model::record::Severity;

use super::{Rule, Seen};
use crate::context::RunContext;

/// The engine, or all of the clients, stood still for whole seconds.
pub(crate) static RULE: Rule = Rule {
    code: "A043",
    name: "stalls",
    severity: Severity::Warning,
    trigger: "a whole second of a step in which no operation ended",
    why: "A mean hides it, and whoever came in that second waited.",
    remedy: "a mean hides this: look at the throughput second by second",
    source: "seed 003, \"How I do RocksDB performance tests, part 2\" (define your goals: stalls \
             show in throughput over time); reference, analysis, section 3",
    run: Some(run),
    ..Rule::SILENT
};

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    context.run.steps.iter().filter_map(stalled).collect()
}

#[expect(clippy::cast_precision_loss, reason = "seconds stay far below 2^53")]
fn stalled(step: &StepRecord) -> Option<Seen> {
    let stalled = step.seconds.stalled_seconds;
    // The record does not tell which of them were void.
    let invalid = if step.invalid_intervals.is_some() { ", void ones among them" } else { "" };
    (stalled > 0).then(|| {
        let of = step.seconds.seconds;
        let evidence = format!("nothing was done in {stalled} of {of} whole seconds{invalid}");
        Seen::new(evidence).step(&step.step.name).sized("", stalled as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::when;

    #[test]
    fn seconds_in_which_nothing_was_done_are_told() {
        let with = |stalled| {
            when(&RULE, |step| {
                (step.seconds.seconds, step.seconds.stalled_seconds) = (60, stalled);
            })
        };
        assert_eq!(with(0), []);
        let evidence = "readrandom of b: nothing was done in 4 of 60 whole seconds (3 runs)";
        assert_eq!(with(4), [(Severity::Warning, evidence.to_owned())]);
    }
}
