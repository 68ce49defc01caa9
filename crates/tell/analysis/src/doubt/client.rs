//! Doubts about the client: runs in which it was late, and what it cannot see.
//!
//! Who could not keep up in a step, and which of its intervals are void, are findings of the step.

use std::collections::BTreeSet;

use model::record::Severity;
use model::{Load, Nanos, RunRecord, StepRecord};

use super::list::{Doubt, graded};
use super::place::by_place;
use crate::metrics::{clients, primary_operations, rate_metrics};

/// Operations that would have come due in the longest one, from which on they are told of.
///
/// Source: the project's reference, analysis, sections 5.2 and 7, L10.
const OMITTED: f64 = 10.0;

/// Tells of each run that does not count, and why.
pub(super) fn invalid(runs: &[RunRecord]) -> Vec<Doubt> {
    let tell = |run: &RunRecord| {
        let reason = run.invalid.as_ref()?;
        let seen = format!("A011 run {} is invalid and not counted: {reason}", run.id);
        let remedy = "find out what kept the client from its work, then run the cell again";
        Some(graded(Severity::Blocking, seen, remedy))
    };
    runs.iter().filter_map(tell).collect()
}

/// Tells, once for all closed loops, what these cannot see.
pub(super) fn omission(runs: &[&RunRecord]) -> Vec<Doubt> {
    let found = by_place(runs, omitted);
    let worst = found.iter().filter_map(|(place, seen)| {
        let worst = seen.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((place, worst))
    });
    let Some(((variant, step), (omitted, longest))) = worst.max_by(|a, b| a.1.0.total_cmp(&b.1.0))
    else {
        return Vec::new();
    };
    let steps: BTreeSet<&str> = found.keys().map(|(_, step)| step.as_str()).collect();
    let others = match steps.len() - 1 {
        0 => String::new(),
        1 => ", and likewise in 1 other step".to_owned(),
        others => format!(", and likewise in {others} other steps"),
    };
    let seen = format!(
        "A010 closed loop: while the longest operation of {step} of {variant} took {longest}, its \
         client would have sent {omitted:.0} more{others}"
    );
    let remedy = "response times are those of clients that wait; an open loop (--rate) counts \
                  everyone who would have come";
    vec![graded(Severity::Note, seen, remedy)]
}

/// Returns the operations a client would have sent during the longest one, and how long that took.
///
/// Source: the project's reference, analysis, section 5.2: longest service time x rate per thread.
fn omitted(step: &StepRecord) -> Option<(f64, Nanos)> {
    if !matches!(step.step.load, Load::Closed | Load::FindClients) {
        return None;
    }
    let metrics = rate_metrics(step);
    let per_client = metrics.get("throughput_ops_per_s")? / f64::from(clients(step));
    let longest = Nanos(step.clients.values().map(|one| one.service.max_ns).max()?);
    let omitted = longest.as_secs_f64() * per_client;
    (primary_operations(step) > 0 && omitted >= OMITTED).then_some((omitted, longest))
}

#[cfg(test)]
mod tests {
    use model::OpKind;
    use model::honesty::Keeping;

    use super::*;
    use crate::doubt::all;
    use crate::sample::{experiment, run, summary};

    fn told(runs: &[RunRecord]) -> Vec<(Severity, String)> {
        let doubts = all(runs, &experiment(&["a"], 2));
        doubts.into_iter().map(|doubt| (doubt.severity, doubt.seen)).collect()
    }

    fn two() -> [RunRecord; 2] {
        [run("a", 1, 5), run("a", 2, 5)]
    }

    #[test]
    fn of_an_invalid_run_only_that_is_told() {
        let mut runs = two();
        runs[1].invalid = Some("20 of 60 intervals are void".to_owned());
        runs[1].steps[0].seconds.stalled_seconds = 9;
        runs[1].steps[0].keeping = Some(Keeping::ClientBound { seen: "late".to_owned() });
        let expected = "A011 run sample/a.c1.r2 is invalid and not counted: 20 of 60 intervals \
                        are void";
        assert_eq!(told(&runs), [(Severity::Blocking, expected.to_owned())]);
    }

    #[test]
    fn what_closed_loops_omit_is_one_note_however_many_steps_have_it() {
        let mut runs = two();
        for run in &mut runs {
            // 50,000 operations of two clients in two seconds: 12,500/s for each.
            let mut reads = summary(50_000, 50_000);
            reads.service.max_ns = 800_000;
            run.steps[0].clients.insert(OpKind::Get, reads);
            let mut other = run.steps[0].clone();
            other.step.name = "overwrite".to_owned();
            other.clients.insert(OpKind::Get, summary(50_000, 50_000));
            run.steps.push(other);
        }
        runs[1].steps[1].clients.insert(OpKind::Get, {
            let mut reads = summary(50_000, 50_000);
            reads.service.max_ns = 4_000_000;
            reads
        });
        let expected = "A010 closed loop: while the longest operation of overwrite of a took \
                        4.00 ms, its client would have sent 50 more, and likewise in 1 other step";
        assert_eq!(told(&runs), [(Severity::Note, expected.to_owned())]);
        for step in runs.iter_mut().flat_map(|run| &mut run.steps) {
            let (rate, pace) = (model::Rate::constant(25_000.0), model::Pace::default());
            step.step.load = Load::Open(model::OpenLoad { rate, pace });
        }
        assert_eq!(told(&runs), []);
    }
}
