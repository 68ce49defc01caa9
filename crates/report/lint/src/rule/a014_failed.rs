//! A014: failed operations.

use model::record::{FailureClass, OpCounts, OpSummaries, total_counts};
use model::{StepRecord, percent};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A014",
    name: "failed operations",
    trigger: "Warning: an operation failed. Blocking: more than 0.1 % of a step's operations \
              failed. Operations that fail while an event of the step has ended their server, or \
              after an event on the disk, do not count",
    why: "A failed operation is not counted as done, but its time was spent. An engine that fails \
          fast seems fast.",
    remedy: "read the engine's own log, in the run's engine/ directory",
    source: "[Callaghan 2022-10-31] (unexplained results turned out bogus); our choice: the limit \
             of 0.1 %",
    ..Rule::of(Checks { steps: &[of_clients, of_writers], ..Checks::NONE })
};

/// Share of failed operations that blocks a verdict. Our choice.
const BLOCKING: f64 = 0.001;

fn of_clients(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    failed(step, &step.clients, "operations")
}

fn of_writers(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    failed(step, &step.writers, "writes of the background writer")
}

fn failed(step: &StepRecord, of: &OpSummaries, what: &'static str) -> Option<Observation> {
    let OpCounts { failed, done, failures, replacing, .. } = total_counts(of);
    let has_disk_events = step.events.iter().any(|event| event.planned.kind.is_of_disk());
    let is_expected = |class: FailureClass| {
        class.is_of_outage()
            || class == FailureClass::LostConnection && !step.events.is_empty()
            // An engine that could not write has messages of all kinds.
            || class == FailureClass::Other && has_disk_events
    };
    let expected = failures.iter().filter(|(class, _)| is_expected(*class));
    let failed = failed.saturating_sub(expected.map(|(_, count)| count).sum());
    let share = failed as f64 / ((failed + done) as f64).max(1.0);
    (failed > 0).then(|| {
        let mut evidence = format!("{failed} {what} failed, {}", percent(share));
        if !failures.is_empty() {
            let phrase = failures.phrase();
            evidence = format!("{evidence}: {phrase}; operations done instead: {replacing}");
        }
        Observation::new(evidence).blocking_if(share > BLOCKING).ranked(what, share)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::{EventRecord, OpKind};

    use super::*;
    use crate::testing::{summary, when};

    #[test]
    fn operations_that_fail_at_an_event_do_not_count() {
        let with = |events: Vec<EventRecord>| {
            when(&RULE, |step| {
                step.events.clone_from(&events);
                let counts = &mut step.clients.get_mut(&OpKind::Get).unwrap().counts;
                counts.failed = 2;
                counts.failures.add(FailureClass::LostConnection);
                counts.failures.add(FailureClass::Refused);
            })
        };
        assert_eq!(with(vec![EventRecord::default()]), []);
        assert_ne!(with(Vec::new()), [], "a connection was lost without an event");
    }

    #[test]
    fn failures_are_reported_and_many_are_blocking() {
        let with = |failed| {
            when(&RULE, |step| step.clients.get_mut(&OpKind::Get).unwrap().counts.failed = failed)
        };
        assert_eq!(with(0), []);
        let evidence = "readrandom of b: 6 operations failed, 0.0 % (3 runs)";
        assert_eq!(with(6), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(6_000)[0].0, Severity::Blocking);
    }

    #[test]
    fn classes_and_retries_are_named() {
        let found = when(&RULE, |step| {
            let counts = &mut step.clients.get_mut(&OpKind::Get).unwrap().counts;
            (counts.failed, counts.replacing) = (2, 1);
            counts.failures.add(FailureClass::LostConnection);
            counts.failures.add(FailureClass::Deadlock);
        });
        let evidence = "2 operations failed, 0.0 %: 1 lost connection, 1 deadlock; operations done \
                        instead: 1";
        assert!(found[0].1.contains(evidence), "{found:?}");
    }

    #[test]
    fn failures_of_the_background_writer_are_reported_apart() {
        let found = when(&RULE, |step| {
            let mut writes = summary(100);
            writes.counts.failed = 3;
            step.writers.insert(OpKind::Put, writes);
        });
        let evidence = "readrandom of b: 3 writes of the background writer failed, 2.9 % (3 runs)";
        assert_eq!(found, [(Severity::Blocking, evidence.to_owned())]);
    }
}
