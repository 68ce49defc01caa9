//! A004: throughput without a steady state.

use model::record::Severity;
use model::{Nanos, StepRecord, StopRule, TimeProfile, TrendClass, metric, percent};

use super::{Checks, Observation, Origin, Rule, code};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: code::A004,
    name: "not steady",
    trigger: "Warning: a step ends by time, and its throughput drifts over the whole step. \
              Warning: a step ends by time, and no long enough part of the step is steady. \
              Warning: the figures of a step include a warm-up or a slow-down, because the rest of \
              the step is too short or because --whole was given. Warning: an open loop was \
              overloaded. Note: a step ends by count, and its throughput drifts or is not steady",
    why: "The mean of a step that is still changing depends on when the step was stopped. It does \
          not describe the engine.",
    remedy: "measure for longer, warm up for longer, or read the result as a trend",
    source: "[Callaghan 2022-08-23] (throughput over time)",
    ..Rule::of(Checks { origin: Origin::Size, steps: &[unsteady], ..Checks::NONE })
};

fn unsteady(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let time_profile = step.time_profile.as_ref()?;
    let (kind, evidence) = match time_profile.class {
        TrendClass::Drift => ("drift", drift(time_profile)),
        TrendClass::NotSteady => {
            ("not steady", "no long enough part of the step was steady".to_owned())
        }
        TrendClass::WarmUp | TrendClass::SlowDown if is_counted(step, time_profile) => {
            let (before, from) = (time_profile.class.phrase(), time_profile.steady_from_ns);
            let evidence =
                format!("{before} after {from}; the figures of the step include the unsteady time");
            ("counted whole", evidence)
        }
        TrendClass::Flat
        | TrendClass::WarmUp
        | TrendClass::SlowDown
        | TrendClass::Cyclic
        | TrendClass::TooShort => return None,
    };
    let evidence = Observation::new(evidence).ranked(kind, slope(time_profile).abs());
    Some(match step.step.stop {
        // The whole of the work was measured, steady or not.
        StopRule::Operations(_) => evidence.severity(Severity::Note),
        StopRule::Duration(_) => evidence,
    })
}

/// Returns whether what came before the steady part is in the step's figures.
///
/// A step that ends by count is its whole work; one that ends by duration should have been trimmed.
fn is_counted(step: &StepRecord, time_profile: &TimeProfile) -> bool {
    let is_timed = matches!(step.step.stop, StopRule::Duration(_));
    is_timed && step.warmup_trim_ns.unwrap_or(Nanos(0)) < time_profile.steady_from_ns
}

/// Returns how much throughput grew over the measured window, as a share.
fn slope(time_profile: &TimeProfile) -> f64 {
    time_profile.drifts.get(metric::THROUGHPUT_OPS_PER_S.name).map_or(0.0, |drift| drift.over_part)
}

fn drift(time_profile: &TimeProfile) -> String {
    let slope = slope(time_profile);
    let way = if slope < 0.0 { "fell" } else { "rose" };
    format!("throughput {way} during the whole step, by {}", percent(slope.abs()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::time_profile::Drift;

    use super::*;
    use crate::testing::{time_profile, when};

    #[test]
    fn a_drift_is_reported_and_a_steady_profile_is_not() {
        let falling = Drift { per_hour: -7.2, over_part: -0.12, is_real: true };
        let with = |class, stop: Option<StopRule>| {
            when(&RULE, |step| {
                let drifts =
                    BTreeMap::from([(metric::THROUGHPUT_OPS_PER_S.name.to_owned(), falling)]);
                step.time_profile = Some(TimeProfile { class, drifts, ..time_profile() });
                step.step.stop = stop.unwrap_or(step.step.stop);
            })
        };
        assert_eq!(with(TrendClass::WarmUp, None), []);
        let evidence = "readrandom of b: throughput fell during the whole step, by 12 % (3 \
                        runs)"
            .to_owned();
        assert_eq!(with(TrendClass::Drift, None), [(Severity::Warning, evidence.clone())]);
        let by_count = Some(StopRule::Operations(600_000));
        assert_eq!(with(TrendClass::Drift, by_count), [(Severity::Note, evidence)]);
        assert_eq!(with(TrendClass::NotSteady, None).len(), 1);
    }

    #[test]
    fn a_warm_up_that_is_counted_is_reported_and_one_that_was_trimmed_is_not() {
        let with = |warmup_trim_s: Option<u64>| {
            when(&RULE, |step| {
                let steady_from_ns = Nanos::from_secs(12);
                let class = TrendClass::WarmUp;
                step.time_profile = Some(TimeProfile { class, steady_from_ns, ..time_profile() });
                step.warmup_trim_ns = warmup_trim_s.map(Nanos::from_secs);
            })
        };
        let evidence = "readrandom of b: warm-up, then steady after 12.0 s; the figures of the \
                        step include the unsteady time (3 runs)";
        assert_eq!(with(None), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(Some(12)), []);
        assert_eq!(with(Some(15)), []);
    }
}
