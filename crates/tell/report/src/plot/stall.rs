//! What the course of a step left out, and where it stood still, under its seconds.

use analysis::moment;
use maud::{Markup, html};
use model::record::IntervalRecord;
use model::{Nanos, StepRecord};
use stats::course::{Second, StallSpan, stall_spans};

use super::palette::ALARM;
use super::picture::px;

/// Height of a stall's mark below the foot of a panel.
const MARK: f64 = 3.5;
/// Narrowest mark that is seen.
const LEAST: f64 = 2.5;

/// Returns the stalls among the intervals of a step's measured span.
///
/// Void intervals are left out, unless the step counts them all the same.
pub(super) fn stalls<'a>(
    step: &StepRecord,
    intervals: impl Iterator<Item = &'a IntervalRecord>,
) -> Vec<StallSpan> {
    let has_void = step.voided.is_none();
    let mut begun = None;
    let second = |interval: &IntervalRecord| {
        let start_ns = interval.start_ns.since(*begun.get_or_insert(interval.start_ns));
        let length_ns = interval.length_ns;
        let is_whole = length_ns.0 >= Nanos::SECOND.0 / 10 * 9;
        let is_counted = is_whole && (has_void || interval.void.is_none());
        let done: u64 = interval.clients.values().map(|summary| summary.counts.done).sum();
        let ops_per_s = ops(done) / length_ns.as_secs_f64();
        is_counted.then_some(Second { start_ns, length_ns, ops_per_s })
    };
    stall_spans(&intervals.filter_map(second).collect::<Vec<_>>())
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

#[expect(clippy::cast_precision_loss, reason = "operations of one second stay below 2^53")]
fn ops(count: u64) -> f64 {
    count as f64
}

/// Returns what was left out of a step, in seconds, with the reason.
pub(super) fn left_out(step: &StepRecord) -> Option<(f64, String)> {
    let cut = step.cut_ns.filter(|cut| *cut > Nanos(0))?;
    Some((cut.as_secs_f64(), analysis::cut_phrase(step)?))
}

/// Returns the shade over what was left out, from `left` to `right`.
pub(super) fn shade((left, right): (f64, f64), (top, bottom): (f64, f64), why: &str) -> Markup {
    html! {
        rect x=(px(left)) y=(px(top)) width=(px(right - left)) height=(px(bottom - top))
            class="cut" {
            title { (why) }
        }
    }
}
