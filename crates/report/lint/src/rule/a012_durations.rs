//! A012: steps of another length or count than requested.

use model::record::Severity;
use model::{Load, StepRecord, StopRule, percent};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A012",
    name: "durations differ",
    severity: Severity::Blocking,
    trigger: "Blocking: the measured time of a step that ends by time differs from the requested \
              time by more than 10 % and by more than a second. Warning: the measured time of a \
              step that ends by time differs from the requested time by more than 1 %. Blocking: a \
              step that ends by count did more than 1 % fewer operations than requested",
    why: "Windows of different lengths contain different parts of a trend, and leave different \
          amounts of data to the next steps.",
    remedy: "find what delayed the clients at the end of the step, then run the cell again",
    source: "[Callaghan 2022-12-02] (1200 seconds for one engine, 1800 for the other: were I to \
             repeat this I would use the same duration); our choice: the limits of 1 % and 10 %",
    ..Rule::of(Checks { measured: &[misfit], ..Checks::NONE })
};

/// Share by which windows or counts may differ. Our choice.
const SHARE: f64 = 0.01;
/// Share from which a window blocks a verdict; below it a rate per second still holds.
const BLOCKING: f64 = 0.1;
/// The same in seconds.
const BLOCKING_S: f64 = 1.0;
/// Difference below which nothing is reported, in seconds: an operation in hand when time is up.
const GRACE_S: f64 = 0.1;

fn misfit(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    // A search makes its own windows.
    if !matches!(step.step.load, Load::Closed | Load::Pipelined(_) | Load::Open(_))
        || step.warmup_trim_ns.is_some()
    {
        return None;
    }
    let counts = step.clients.values().map(|one| one.counts.done + one.counts.failed);
    let (share, is_severe, evidence) = match step.step.stop {
        StopRule::Duration(requested) => {
            let (requested_s, took_s) = (requested.as_secs_f64(), step.duration_ns.as_secs_f64());
            let apart_s = (took_s - requested_s).abs();
            let share = apart_s / requested_s;
            let evidence =
                format!("the step was measured for {} instead of {requested}", step.duration_ns);
            let is_reported = share > SHARE && apart_s > GRACE_S;
            (is_reported.then_some(share)?, share > BLOCKING && apart_s > BLOCKING_S, evidence)
        }
        StopRule::Operations(requested) => {
            let done: u64 = counts.sum();
            let share = 1.0 - done as f64 / (requested as f64).max(1.0);
            let evidence = format!(
                "the step did {done} operations instead of {requested}, {} fewer",
                percent(share)
            );
            ((share > SHARE).then_some(share)?, true, evidence)
        }
    };
    Some(Observation::new(evidence).blocking_if(is_severe).ranked("", share))
}

#[cfg(test)]
mod tests {
    use model::Nanos;
    use model::record::Severity;

    use super::*;
    use crate::testing::when;

    #[test]
    fn windows_of_another_length_are_reported() {
        let with = |ms| when(&RULE, |step| step.duration_ns = Nanos::from_millis(ms));
        assert_eq!(with(60_500), []);
        let evidence = "readrandom of b: the step was measured for 1m02s instead of 1m00s (3 runs)";
        assert_eq!(with(62_000), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(70_000)[0].0, Severity::Blocking);
    }

    #[test]
    fn counts_that_were_not_reached_are_blocking() {
        let with = |spec| when(&RULE, |step| step.step.stop = StopRule::Operations(spec));
        assert_eq!(with(601_000), []);
        let evidence = "readrandom of b: the step did 600000 operations instead of 800000, 25 % \
                        fewer (3 runs)";
        assert_eq!(with(800_000), [(Severity::Blocking, evidence.to_owned())]);
    }
}
