//! A012: steps that were not measured for as long, or as much, as was asked.

use model::record::Severity;
use model::{Load, StepRecord, StopRule};

use super::{Rule, Seen};
use crate::context::RunContext;
use crate::look::{measured, percent};

/// The measured window is not what was asked for.
pub(crate) static RULE: Rule = Rule {
    code: "A012",
    name: "durations differ",
    severity: Severity::Blocking,
    trigger: "a step that ends by time was measured for more than 10 % and a second longer or shorter \
              than asked (a doubt above 1 %), or one that ends by count did 1 % less",
    why: "Windows of different lengths hold different parts of a course, and leave data of \
          different sizes to the steps that follow.",
    remedy: "see what held the clients at the end of the step, then run the cell again",
    source: "seed 001, \"Benchmark(et)ing RocksDB vs SplinterDB\" (1200 seconds for one engine, 1800 \
             for the other: were I to repeat this I would use the same duration); reference, \
             analysis, section 7, L12",
    run: Some(run),
    ..Rule::SILENT
};

/// Share by which windows or counts may differ. Source: the reference, analysis, L12.
const SHARE: f64 = 0.01;
/// Share from which a window blocks a verdict; below it a rate per second still holds.
const BLOCKING: f64 = 0.1;
/// The same in seconds.
const BLOCKING_S: f64 = 1.0;
/// Difference below which nothing is told, in seconds: an operation in hand when time is up.
const GRACE_S: f64 = 0.1;

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    measured(context.run).filter_map(misfit).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn misfit(step: &StepRecord) -> Option<Seen> {
    // A search makes its own windows.
    if !matches!(step.step.load, Load::Closed | Load::Pipelined(_) | Load::Open(_))
        || step.warmup_trim_ns.is_some()
    {
        return None;
    }
    let counts = step.clients.values().map(|one| one.counts.done + one.counts.failed);
    let (share, is_grave, evidence) = match step.step.stop {
        StopRule::Duration(asked) => {
            let (asked_s, took_s) = (asked.as_secs_f64(), step.duration_ns.as_secs_f64());
            let apart_s = (took_s - asked_s).abs();
            let share = apart_s / asked_s;
            let evidence = format!("measured for {} in place of {asked}", step.duration_ns);
            let is_told = share > SHARE && apart_s > GRACE_S;
            (is_told.then_some(share)?, share > BLOCKING && apart_s > BLOCKING_S, evidence)
        }
        StopRule::Operations(asked) => {
            let done: u64 = counts.sum();
            let share = 1.0 - done as f64 / (asked as f64).max(1.0);
            let evidence =
                format!("{done} operations in place of {asked}, {} less", percent(share));
            ((share > SHARE).then_some(share)?, true, evidence)
        }
    };
    let severity = if is_grave { Severity::Blocking } else { Severity::Warning };
    Some(Seen::new(evidence).step(&step.step.name).graded(severity).sized("", share))
}

#[cfg(test)]
mod tests {
    use model::Nanos;

    use super::*;
    use crate::testing::when;

    #[test]
    fn windows_of_another_length_are_told() {
        let with = |ms| when(&RULE, |step| step.duration_ns = Nanos::from_millis(ms));
        assert_eq!(with(60_500), []);
        let evidence = "readrandom of b: measured for 1m02s in place of 1m00s (3 runs)";
        assert_eq!(with(62_000), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(70_000)[0].0, Severity::Blocking);
    }

    #[test]
    fn counts_that_were_not_reached_are_blocking() {
        let with = |asked| when(&RULE, |step| step.step.stop = StopRule::Operations(asked));
        assert_eq!(with(601_000), []);
        let evidence = "readrandom of b: 600000 operations in place of 800000, 25 % less (3 runs)";
        assert_eq!(with(800_000), [(Severity::Blocking, evidence.to_owned())]);
    }
}
