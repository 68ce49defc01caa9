//! Time profiles of the steps: warm-up, drift, cycles and stalls.

use analysis::{moment, warmup_trim_phrase};
use model::time_profile::{Drift, TimeProfile, TrendClass};
use model::{Nanos, RunRecord, StepRecord};

use crate::document::Part;
use crate::figure::digits;

/// The slope that belongs to the class.
const THROUGHPUT: &str = "throughput_ops_per_s";

/// Returns the time profiles of the steps; nothing without any.
pub(super) fn time_profiles(run: &RunRecord) -> Vec<Part> {
    let of_step =
        |step: &StepRecord| Some(format!("{}: {}", step.step.name, notes(step)?.join("; ")));
    let items = run.steps.iter().filter_map(of_step).collect();
    Part::title("Over time").above([Part::Sentences(items)])
}

/// Returns the notes on a step; one too short to classify has its stalls alone.
fn notes(step: &StepRecord) -> Option<Vec<String>> {
    let time_profile = step.time_profile.as_ref()?;
    let is_classified = time_profile.class != TrendClass::TooShort;
    let mut notes: Vec<String> = Vec::new();
    notes.extend(is_classified.then(|| class(time_profile)));
    notes.extend(warmup_trim_phrase(step));
    notes.extend(cycle(time_profile));
    notes.extend(stalls(time_profile));
    let drifts = time_profile.drifts.iter().filter(|(_, it)| it.is_real);
    notes.extend(drifts.filter_map(|(name, it)| drift(name, it)));
    if is_classified {
        let (worth, seconds) = (digits(time_profile.effective_seconds), time_profile.seconds);
        notes.push(format!("{seconds} s are worth {worth} independent seconds"));
    }
    (!notes.is_empty()).then_some(notes)
}

fn class(time_profile: &TimeProfile) -> String {
    let phrase = time_profile.class.phrase();
    match time_profile.class {
        TrendClass::WarmUp | TrendClass::SlowDown if time_profile.steady_from_ns > Nanos(0) => {
            format!("{phrase} after {}", moment(time_profile.steady_from_ns))
        }
        TrendClass::Drift => match time_profile.drifts.get(THROUGHPUT) {
            Some(drift) => format!("{phrase} by {}", percent(drift.over_part)),
            None => phrase.to_owned(),
        },
        TrendClass::Flat
        | TrendClass::WarmUp
        | TrendClass::SlowDown
        | TrendClass::Cyclic
        | TrendClass::NotSteady
        | TrendClass::TooShort => phrase.to_owned(),
    }
}

fn cycle(time_profile: &TimeProfile) -> Option<String> {
    let cycle = time_profile.cycle?;
    let share = cycle.variance_share * 100.0;
    Some(format!("a cycle of {} ({share:.0} % of the variance)", moment(cycle.period_ns)))
}

fn stalls(time_profile: &TimeProfile) -> Option<String> {
    let stalls = &time_profile.stalls;
    match stalls.count {
        0 => None,
        1 => Some(format!("one stall of {}", stalls.longest_ns)),
        count => Some(format!(
            "{count} stalls, {} in all, the longest {}",
            stalls.total_ns, stalls.longest_ns
        )),
    }
}

/// Returns the slope of another metric than throughput.
fn drift(name: &str, drift: &Drift) -> Option<String> {
    (name != THROUGHPUT).then(|| format!("{name} {} in that time", percent(drift.over_part)))
}

/// Returns a share as a signed percentage: `+3.1 %`.
fn percent(share: f64) -> String {
    let sign = if share < 0.0 { '-' } else { '+' };
    format!("{sign}{} %", digits(share.abs() * 100.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::time_profile::{Cycle, Stalls};
    use model::{Step, StopRule};

    use super::*;

    fn step(time_profile: TimeProfile) -> StepRecord {
        let step = Step::new("readrandom", StopRule::Duration(Nanos::from_secs(60)));
        StepRecord { time_profile: Some(time_profile), ..StepRecord::new(1, step) }
    }

    fn time_profile(class: TrendClass) -> TimeProfile {
        TimeProfile {
            class,
            steady_from_ns: Nanos(0),
            drifts: BTreeMap::new(),
            cycle: None,
            stalls: Stalls::default(),
            seconds: 48,
            long_run_variance: 0.001,
            effective_seconds: 40.2,
        }
    }

    fn joined(step: &StepRecord) -> String {
        notes(step).unwrap_or_default().join("; ")
    }

    #[test]
    fn warm_up_is_reported_with_its_trim() {
        let steady_from_ns = Nanos::from_secs(12);
        let mut step = step(TimeProfile { steady_from_ns, ..time_profile(TrendClass::WarmUp) });
        step.warmup_trim_ns = Some(Nanos::from_secs(12));
        let expected = "warm-up, then steady after 12 s; measured after 12 s: warm-up before; \
                        48 s are worth 40.2 independent seconds";
        assert_eq!(joined(&step), expected);
    }

    #[test]
    fn drifts_cycles_and_stalls_have_their_figures() {
        let drift =
            |over_part| Drift { per_hour: over_part * 60.0, over_part, is_real: over_part != 0.0 };
        let drifts = [(THROUGHPUT, -0.08), ("rss_bytes", 0.031), ("data_dir_bytes", 0.0)];
        let drifting = TimeProfile {
            drifts: drifts.map(|(name, by)| (name.to_owned(), drift(by))).into(),
            cycle: Some(Cycle { period_ns: Nanos::from_secs(9), variance_share: 0.45 }),
            stalls: Stalls {
                count: 2,
                longest_ns: Nanos::from_secs(3),
                total_ns: Nanos::from_secs(4),
                lost_ops: 9.0,
            },
            ..time_profile(TrendClass::Drift)
        };
        let expected = "drifts by -8.00 %; a cycle of 9 s (45 % of the variance); 2 stalls, 4.00 s \
                        in all, the longest 3.00 s; rss_bytes +3.10 % in that time; 48 s are worth \
                        40.2 independent seconds";
        assert_eq!(joined(&step(drifting)), expected);
    }

    #[test]
    fn short_step_reports_only_stalls() {
        let short = time_profile(TrendClass::TooShort);
        assert_eq!(joined(&step(short.clone())), "");
        let stalls = Stalls { count: 1, longest_ns: Nanos::SECOND, ..Stalls::default() };
        assert_eq!(joined(&step(TimeProfile { stalls, ..short })), "one stall of 1.00 s");
    }
}
