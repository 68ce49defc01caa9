//! Doubts about what the engine did.

use model::{RunRecord, StepRecord};

use super::list::{Doubt, doubt};
use super::place::{Place, by_place, runs_of};

/// Tells of failed writes in the background: failures of the clients are findings of the record.
pub(super) fn failures(runs: &[&RunRecord]) -> Vec<Doubt> {
    let of_writers = |step: &StepRecord| step.writers.values().map(|one| one.counts.failed).sum();
    let failed = by_place(runs, |step| Some(of_writers(step)).filter(|failed: &u64| *failed > 0));
    let tell = |((variant, step), counts): (Place, Vec<u64>)| {
        let total = counts.iter().sum::<u64>();
        let runs = runs_of(counts.len());
        doubt(
            format!(
                "{total} writes of the background writer failed in {step} of {variant} ({runs})"
            ),
            "they are not counted as done; read the engine's log of these runs",
        )
    };
    failed.into_iter().map(tell).collect()
}

/// Tells of seconds in which nothing was done.
pub(super) fn stalled(runs: &[&RunRecord]) -> Vec<Doubt> {
    let look = |step: &StepRecord| {
        let seconds = step.seconds.stalled_seconds;
        (seconds > 0).then_some((seconds, step.voided.is_some()))
    };
    let tell = |((variant, step), seen): (Place, Vec<(u64, bool)>)| {
        // The record does not tell which of them were void.
        let has_void = seen.iter().any(|(_, has_void)| *has_void);
        let void = if has_void { ", void ones among them" } else { "" };
        doubt(
            format!(
                "{variant} did nothing in {} whole seconds of {step}{void} ({})",
                seen.iter().map(|(seconds, _)| seconds).sum::<u64>(),
                runs_of(seen.len())
            ),
            "a mean hides this: look at the throughput second by second",
        )
    };
    by_place(runs, look).into_iter().map(tell).collect()
}

#[cfg(test)]
mod tests {
    use model::{Experiment, OpKind};

    use super::*;
    use crate::doubt::all;
    use crate::sample::{experiment, run, summary};

    fn seen(runs: &[RunRecord], experiment: &Experiment) -> Vec<String> {
        all(runs, experiment).into_iter().map(|doubt| doubt.seen).collect()
    }

    #[test]
    fn failed_writes_in_the_background_are_summed_over_runs() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5)];
        for run in &mut runs {
            let mut failing = summary(5, 5);
            failing.counts.failed = 3;
            run.steps[0].writers.insert(OpKind::Put, failing);
        }
        let told = seen(&runs, &experiment(&["a"], 2));
        assert_eq!(told, ["6 writes of the background writer failed in readrandom of a (2 runs)"]);
    }

    #[test]
    fn seconds_in_which_nothing_was_done_are_told() {
        let mut runs = [run("a", 1, 5), run("a", 2, 5)];
        runs[1].steps[0].seconds.stalled_seconds = 4;
        let told = seen(&runs, &experiment(&["a"], 2));
        assert_eq!(told, ["a did nothing in 4 whole seconds of readrandom (1 run)"]);
    }
}
