//! Marks of trimmed warm-up and stalls below the seconds of a step.

use analysis::{counted_seconds, moment};
use maud::{Markup, html};
use model::record::IntervalRecord;
use model::{Nanos, StepRecord};
use stats::time_profile::{StallSpan, stall_spans};

use super::palette::ALARM;
use super::picture::px;

/// Height of a stall's mark below the foot of a panel.
const MARK: f64 = 3.5;
/// Narrowest visible mark.
const LEAST: f64 = 2.5;

/// Returns the stalls among the intervals of a step's measured span.
///
/// Invalid intervals are left out, unless the step counts them.
pub(super) fn stalls<'a>(
    step: &StepRecord,
    intervals: impl Iterator<Item = &'a IntervalRecord>,
) -> Vec<StallSpan> {
    let counted = counted_seconds(&step.into(), intervals).into_iter();
    stall_spans(&counted.map(|(_, second)| second).collect::<Vec<_>>())
}

/// Returns the marks of stalls at the foot of a panel; `x` places seconds.
pub(super) fn marks(stalls: &[StallSpan], x: impl Fn(f64) -> f64, foot: f64) -> Markup {
    html! {
        @for stall in stalls {
            @let from = x(stall.start_ns.as_secs_f64());
            @let to = x(stall.start_ns.after(stall.length_ns).as_secs_f64());
            rect x=(px(from)) y=(px(foot)) width=(px((to - from).max(LEAST))) height=(px(MARK))
                fill=(ALARM) {
                title { "stall of " (stall.length_ns) " at " (moment(stall.start_ns)) }
            }
        }
    }
}

/// Returns what was left out of a step, in seconds, with the reason.
pub(super) fn left_out(step: &StepRecord) -> Option<(f64, String)> {
    let trim = step.warmup_trim_ns.filter(|trim| *trim > Nanos(0))?;
    Some((trim.as_secs_f64(), analysis::warmup_trim_phrase(step)?))
}

/// Returns the shade over what is not counted, from `left` to `right`.
pub(super) fn shade(
    (left, right): (f64, f64),
    (top, bottom): (f64, f64),
    class: &str,
    why: &str,
) -> Markup {
    html! {
        rect x=(px(left)) y=(px(top)) width=(px(right - left)) height=(px(bottom - top))
            class=(class) {
            title { (why) }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::record::{OpCounts, OpSummaries, OpSummary};
    use model::validity::{InvalidCause, InvalidIntervals, InvalidReason};
    use model::{OpKind, Readings, Step, StopRule, TableReadings};

    use super::*;

    fn second(at: u64, done: u64, is_invalid: bool) -> IntervalRecord {
        let counts = OpCounts { done, ..OpCounts::default() };
        let invalid = InvalidReason { cause: InvalidCause::Steal, evidence: String::new() };
        IntervalRecord {
            step_index: 0,
            step: "readrandom".to_owned(),
            is_warmup: false,
            start_ns: Nanos::from_secs(5 + at),
            length_ns: Nanos::SECOND,
            clients: [(OpKind::Get, OpSummary { counts, ..OpSummary::default() })].into(),
            writers: OpSummaries::new(),
            probe: None,
            invalid: is_invalid.then_some(invalid),
            start_lag: None,
            within_limit: None,
            spanning: Vec::new(),
            readings: Readings::new(),
            tables: TableReadings::new(),
        }
    }

    fn step() -> StepRecord {
        let step = Step {
            warmup: Nanos::from_secs(5),
            ..Step::new("readrandom", StopRule::Duration(Nanos::from_secs(20)))
        };
        StepRecord::new(0, step)
    }

    /// Twenty seconds; the eighth and ninth stall, the ninth through host steal.
    fn seconds() -> Vec<IntervalRecord> {
        let done = |at: u64| if at == 8 || at == 9 { 0 } else { 900 };
        (0..20).map(|at| second(at, done(at), at == 9)).collect()
    }

    #[test]
    fn invalid_second_is_no_stall_unless_it_counts() {
        let mut step = step();
        let lengths = |step: &StepRecord| -> Vec<(u64, u64)> {
            let found = stalls(step, seconds().iter());
            found.iter().map(|it| (it.start_ns.0 / 1_000_000_000, it.length_ns.0)).collect()
        };
        assert_eq!(lengths(&step), [(8, 2_000_000_000)]);
        step.invalid_intervals = Some(InvalidIntervals {
            intervals: 1,
            of_intervals: 20,
            causes: vec![(InvalidCause::Steal, 1)],
            valid_ns: Nanos::from_secs(19),
            valid: OpSummaries::new(),
            within_limit: None,
        });
        assert_eq!(lengths(&step), [(8, 1_000_000_000)]);
    }

    #[test]
    fn marks_and_shades_have_tooltips() {
        let drawn = marks(&stalls(&step(), seconds().iter()), |second| 10.0 * second, 50.0);
        assert!(drawn.0.contains("x=\"80\" y=\"50\" width=\"20\""), "{}", drawn.0);
        assert!(drawn.0.contains("stall of 2.00 s at 8 s"), "{}", drawn.0);
        let mut step = step();
        assert_eq!(left_out(&step), None);
        step.warmup_trim_ns = Some(Nanos::from_secs(6));
        let (warmup_trim_s, why) = left_out(&step).unwrap();
        let drawn = shade((0.0, 10.0 * warmup_trim_s), (0.0, 40.0), "trimmed", &why).0;
        assert!(drawn.contains("width=\"60\"") && drawn.contains("measured after 6 s"), "{drawn}");
    }
}
