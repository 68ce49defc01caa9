//! Tests a probe against the limit and for steadiness.

use model::Limit;
use model::units::{per_second, thousands};
use stats::Estimate;

use crate::format::percent;
use crate::steady::{self, State};
use crate::window::Window;

/// The outcome of a probe.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProbeOutcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, with the figures.
    pub reason: String,
    /// Share of the operations that were late.
    pub late: Estimate,
}

/// A verdict on a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The limit was met in a steady state.
    Passed,
    /// The limit was exceeded, or the state was not steady.
    Failed,
    /// Undecided: a longer probe may decide.
    RetryLonger,
    /// The engine was reducing inherited debt: repeat after a settle.
    RetrySettled,
    /// The client was late too often.
    Invalid,
}

/// Window below which growing debt may be one climb of a cycle, seconds.
///
/// A compaction of the upper levels comes every few to some ten seconds.
const CYCLE_S: f64 = 60.0;

/// Tests a probe at a rate: limit met and rate sustained.
///
/// The limit is tested as a proportion: it is met when the upper confidence limit of the late share
/// is within it, and exceeded when the lower one is beyond it (interval: [Korn Graubard 1998]).
pub(crate) fn test_rate(
    window: &Window<'_>,
    limit: &Limit,
    offered_ops_per_s: f64,
) -> ProbeOutcome {
    let late = window.late_share();
    if window.is_invalid() {
        return invalid_outcome(window, late);
    }
    if let Some(reason) = sustain_failure(window, limit, offered_ops_per_s, &late) {
        let (verdict, reason) = if steady::is_debt_falling(window) {
            (Verdict::RetrySettled, format!("{reason}, while the engine did deferred work"))
        } else {
            (Verdict::Failed, reason)
        };
        return ProbeOutcome { verdict, reason, late };
    }
    match steady::debts(window) {
        State::Unsteady(reason) if window.total_s() >= CYCLE_S => {
            return ProbeOutcome { verdict: Verdict::Failed, reason, late };
        }
        State::Unsteady(reason) | State::Levelling(reason) => {
            return ProbeOutcome { verdict: Verdict::RetryLonger, reason, late };
        }
        State::Steady => (),
    }
    limit_result(window, limit, late)
}

/// Tests whether a closed loop's throughput is a usable starting point.
pub(crate) fn test_capacity(window: &Window<'_>) -> ProbeOutcome {
    let late = window.late_share();
    let throughput = per_second(window.throughput_ops_per_s());
    if window.is_invalid() {
        return invalid_outcome(window, late);
    }
    let (verdict, reason) = if steady::is_debt_falling(window) {
        (Verdict::RetrySettled, format!("{throughput}, while the engine did deferred work"))
    } else {
        (Verdict::Passed, format!("the closed loop reaches {throughput}: the starting rate"))
    };
    ProbeOutcome { verdict, reason, late }
}

/// Tests a closed-loop probe against the limit.
///
/// Debt is ignored: a closed loop runs at capacity and has no rate to sustain.
pub(crate) fn test_clients(window: &Window<'_>, limit: Option<&Limit>) -> ProbeOutcome {
    let late = match limit {
        Some(_) => window.late_share(),
        None => Estimate { value: 0.0, low: 0.0, high: 0.0 },
    };
    if window.is_invalid() {
        return invalid_outcome(window, late);
    }
    let Some(limit) = limit else {
        let reason = "no limit set".to_owned();
        return ProbeOutcome { verdict: Verdict::Passed, reason, late };
    };
    if is_broken(limit, &late) {
        return ProbeOutcome {
            verdict: Verdict::Failed,
            reason: late_text(window, limit, &late),
            late,
        };
    }
    limit_result(window, limit, late)
}

fn invalid_outcome(window: &Window<'_>, late: Estimate) -> ProbeOutcome {
    let invalid = match window.invalid_count() {
        1 => "1 interval is invalid".to_owned(),
        count => format!("{count} intervals are invalid"),
    };
    let reason = format!("the client was late: {invalid}");
    ProbeOutcome { verdict: Verdict::Invalid, reason, late }
}

/// Returns why the engine did not sustain the rate, if it did not.
fn sustain_failure(
    window: &Window<'_>,
    limit: &Limit,
    offered_ops_per_s: f64,
    late: &Estimate,
) -> Option<String> {
    for state in [steady::load_state(window, offered_ops_per_s, limit), steady::stalls(window)] {
        if let State::Unsteady(reason) = state {
            return Some(reason);
        }
    }
    is_broken(limit, late).then(|| late_text(window, limit, late))
}

/// Returns passed or undecided, when the limit was not certainly exceeded.
fn limit_result(window: &Window<'_>, limit: &Limit, late: Estimate) -> ProbeOutcome {
    let needed = limit.operations_needed();
    if window.ended() < needed {
        let (needed, ended) = (thousands(needed), thousands(window.ended()));
        let reason = format!("{needed} operations are needed, and the window has {ended}");
        return ProbeOutcome { verdict: Verdict::RetryLonger, reason, late };
    }
    let is_within = late.high <= 1.0 - limit.share;
    let verdict = if is_within { Verdict::Passed } else { Verdict::RetryLonger };
    ProbeOutcome { verdict, reason: late_text(window, limit, &late), late }
}

fn is_broken(limit: &Limit, late: &Estimate) -> bool {
    late.low > 1.0 - limit.share
}

/// Formats the share of late operations and the allowed one.
fn late_text(window: &Window<'_>, limit: &Limit, late: &Estimate) -> String {
    let [value, low, high] = [late.value, late.low, late.high].map(percent);
    let (count, allowed) = (thousands(window.ended()), percent(1.0 - limit.share));
    format!(
        "{value} of {count} operations were late ({low} to {high}); the limit permits {allowed}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::ProbeObservation;
    use crate::testing::{LIMIT, observation, with_gauge, with_invalid};
    use model::metric;

    fn of(observation: &ProbeObservation) -> (Verdict, String) {
        let tested = test_rate(&Window::of(observation), &LIMIT, 1000.0);
        (tested.verdict, tested.reason)
    }

    #[test]
    fn a_limit_is_met_exceeded_or_undecided() {
        assert_eq!(of(&observation(60, 1000, 0)).0, Verdict::Passed);
        let (verdict, reason) = of(&observation(60, 1000, 20));
        assert_eq!(verdict, Verdict::Failed);
        assert_eq!(
            reason,
            "2 % of 60,000 operations were late (1.89 % to 2.12 %); the limit permits 1 %"
        );
        assert_eq!(of(&observation(60, 1000, 10)).0, Verdict::RetryLonger);
    }

    #[test]
    fn too_few_operations_cannot_meet_a_limit_but_exceed_it() {
        let (verdict, reason) = of(&observation(5, 1000, 0));
        assert_eq!(verdict, Verdict::RetryLonger);
        assert_eq!(reason, "10,000 operations are needed, and the window has 5,000");
        assert_eq!(of(&observation(5, 1000, 100)).0, Verdict::Failed);
        assert_eq!(of(&observation(5, 0, 0)).0, Verdict::RetryLonger);
    }

    #[test]
    fn a_limit_exceeded_under_falling_debt_is_repeated_after_a_settle() {
        let falling = |probe| with_gauge(probe, metric::ENGINE_DEBT_BYTES, |at| (100.0 - at) * 1e8);
        let (verdict, reason) = of(&falling(observation(60, 1000, 100)));
        assert_eq!(verdict, Verdict::RetrySettled);
        assert!(reason.ends_with("while the engine did deferred work"), "{reason}");
        assert_eq!(of(&falling(observation(60, 1000, 0))).0, Verdict::Passed);
        assert_eq!(
            test_capacity(&Window::of(&falling(observation(60, 9, 0)))).verdict,
            Verdict::RetrySettled
        );
    }

    #[test]
    fn growing_debt_fails_a_minute_and_extends_a_shorter_probe() {
        let growing = |seconds| {
            with_gauge(observation(seconds, 1000, 0), metric::ENGINE_DEBT_BYTES, |at| at * 1e8)
        };
        assert_eq!(of(&growing(60)).0, Verdict::Failed);
        assert_eq!(of(&growing(20)).0, Verdict::RetryLonger);
        assert_eq!(test_capacity(&Window::of(&growing(60))).verdict, Verdict::Passed);
    }

    #[test]
    fn a_mostly_invalid_probe_is_invalid() {
        let (verdict, reason) = of(&with_invalid(observation(60, 1000, 100), 30));
        assert_eq!(verdict, Verdict::Invalid);
        assert_eq!(reason, "the client was late: 30 intervals are invalid");
    }

    #[test]
    fn a_closed_loop_without_a_limit_always_passes() {
        let tested = test_clients(&Window::of(&observation(60, 1000, 0)), None);
        assert_eq!((tested.verdict, tested.late.high.to_bits()), (Verdict::Passed, 0));
    }
}
