//! What a probe says: the limit was kept, broken, or nobody can tell yet.

use model::Limit;
use model::units::{per_second, thousands};
use stats::proportion::Share;

use crate::steady::{self, State};
use crate::window::Window;
use crate::words::percent;

/// What a probe says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ruling {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, with the figures.
    pub reason: String,
    /// Share of the operations that were late.
    pub late: Share,
}

/// A verdict on a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The limit was kept, and it could go on like this.
    Passed,
    /// The limit was broken, or it could not go on like this.
    Failed,
    /// A longer probe may tell.
    Longer,
    /// The engine was working off what it owed before: a probe after a drain may tell.
    Drained,
    /// The client was late too often.
    Invalid,
}

/// Window below which growing debt may be one climb of a cycle, seconds.
///
/// A compaction of the upper levels comes every few to some ten seconds.
const CYCLE_S: f64 = 60.0;

/// Returns what a probe at a rate says of the limit and of whether it can be sustained.
///
/// The limit is tested as a proportion: it is kept when the upper limit of the share of late
/// operations allows it, and broken when the lower one does not.
///
/// Source: the project's reference, analysis, section 5.3.
pub(crate) fn at_rate(window: &Window<'_>, limit: &Limit, offered_ops_per_s: f64) -> Ruling {
    let late = window.late_share();
    if window.is_invalid() {
        return invalid_intervals(window, late);
    }
    if let Some(reason) = cannot_keep_up(window, limit, offered_ops_per_s, &late) {
        let (verdict, reason) = if steady::is_debt_falling(window) {
            (Verdict::Drained, format!("{reason}, while earlier debt was worked off"))
        } else {
            (Verdict::Failed, reason)
        };
        return Ruling { verdict, reason, late };
    }
    match steady::debts(window) {
        State::Unsteady(reason) if window.total_s() >= CYCLE_S => {
            return Ruling { verdict: Verdict::Failed, reason, late };
        }
        State::Unsteady(reason) | State::Levelling(reason) => {
            return Ruling { verdict: Verdict::Longer, reason, late };
        }
        State::Steady => (),
    }
    kept_or_not_clear(window, limit, late)
}

/// Returns whether a closed loop's throughput is a hint of where to look for rates.
pub(crate) fn of_capacity(window: &Window<'_>) -> Ruling {
    let late = window.late_share();
    let throughput = per_second(window.throughput_ops_per_s());
    let (verdict, reason) = match () {
        () if window.is_invalid() => return invalid_intervals(window, late),
        () if steady::is_debt_falling(window) => {
            (Verdict::Drained, format!("{throughput}, while earlier debt was worked off"))
        }
        () => (Verdict::Passed, format!("the closed loop does {throughput}: a hint")),
    };
    Ruling { verdict, reason, late }
}

/// Returns what a probe in a closed loop says of the limit.
///
/// Nothing is asked about debt: a closed loop takes all it can get, and sustains nothing.
pub(crate) fn at_clients(window: &Window<'_>, limit: Option<&Limit>) -> Ruling {
    let late = match limit {
        Some(_) => window.late_share(),
        None => Share { value: 0.0, low: 0.0, high: 0.0 },
    };
    if window.is_invalid() {
        return invalid_intervals(window, late);
    }
    let Some(limit) = limit else {
        let reason = "no limit was asked for".to_owned();
        return Ruling { verdict: Verdict::Passed, reason, late };
    };
    if is_broken(limit, &late) {
        return Ruling { verdict: Verdict::Failed, reason: lateness(window, limit, &late), late };
    }
    kept_or_not_clear(window, limit, late)
}

fn invalid_intervals(window: &Window<'_>, late: Share) -> Ruling {
    let invalid = match window.voids() {
        1 => "1 interval is void".to_owned(),
        count => format!("{count} intervals are void"),
    };
    let reason = format!("the client was late: {invalid}");
    Ruling { verdict: Verdict::Invalid, reason, late }
}

/// Returns the reason for which the engine did not keep up at this rate, if it did not.
fn cannot_keep_up(
    window: &Window<'_>,
    limit: &Limit,
    offered_ops_per_s: f64,
    late: &Share,
) -> Option<String> {
    for state in [steady::load_status(window, offered_ops_per_s, limit), steady::stalls(window)] {
        if let State::Unsteady(reason) = state {
            return Some(reason);
        }
    }
    is_broken(limit, late).then(|| lateness(window, limit, late))
}

/// Returns what is said when the limit was not broken for certain.
fn kept_or_not_clear(window: &Window<'_>, limit: &Limit, late: Share) -> Ruling {
    let needed = limit.operations_needed();
    if window.ended() < needed {
        let (needed, ended) = (thousands(needed), thousands(window.ended()));
        let reason = format!("{needed} operations are needed, the window has {ended}");
        return Ruling { verdict: Verdict::Longer, reason, late };
    }
    let is_kept = late.high <= 1.0 - limit.share;
    let verdict = if is_kept { Verdict::Passed } else { Verdict::Longer };
    Ruling { verdict, reason: lateness(window, limit, &late), late }
}

fn is_broken(limit: &Limit, late: &Share) -> bool {
    late.low > 1.0 - limit.share
}

/// Writes the share of late operations beside the one that is allowed.
fn lateness(window: &Window<'_>, limit: &Limit, late: &Share) -> String {
    let [value, low, high] = [late.value, late.low, late.high].map(percent);
    let (count, allowed) = (thousands(window.ended()), percent(1.0 - limit.share));
    format!("{value} of {count} operations were late ({low} to {high}), {allowed} may be")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{LIMIT, seen, with_gauge, with_voids};
    use crate::probe::ProbeObservation;

    fn of(seen: &ProbeObservation) -> (Verdict, String) {
        let ruling = at_rate(&Window::of(seen), &LIMIT, 1000.0);
        (ruling.verdict, ruling.reason)
    }

    #[test]
    fn a_limit_is_kept_broken_or_not_clear() {
        assert_eq!(of(&seen(60, 1000, 0)).0, Verdict::Passed);
        let (verdict, reason) = of(&seen(60, 1000, 20));
        assert_eq!(verdict, Verdict::Failed);
        assert_eq!(reason, "2 % of 60,000 operations were late (1.89 % to 2.12 %), 1 % may be");
        assert_eq!(of(&seen(60, 1000, 10)).0, Verdict::Longer);
    }

    #[test]
    fn too_few_operations_cannot_keep_a_limit_but_break_it() {
        let (verdict, reason) = of(&seen(5, 1000, 0));
        assert_eq!(verdict, Verdict::Longer);
        assert_eq!(reason, "10,000 operations are needed, the window has 5,000");
        assert_eq!(of(&seen(5, 1000, 100)).0, Verdict::Failed);
        assert_eq!(of(&seen(5, 0, 0)).0, Verdict::Longer);
    }

    #[test]
    fn what_is_broken_under_falling_debt_is_tried_after_a_drain() {
        let falling = |probe| with_gauge(probe, "engine_debt_bytes", |at| (100.0 - at) * 1e8);
        let (verdict, reason) = of(&falling(seen(60, 1000, 100)));
        assert_eq!(verdict, Verdict::Drained);
        assert!(reason.ends_with("while earlier debt was worked off"), "{reason}");
        assert_eq!(of(&falling(seen(60, 1000, 0))).0, Verdict::Passed);
        assert_eq!(of_capacity(&Window::of(&falling(seen(60, 9, 0)))).verdict, Verdict::Drained);
    }

    #[test]
    fn growing_debt_fails_a_minute_and_prolongs_less() {
        let growing =
            |seconds| with_gauge(seen(seconds, 1000, 0), "engine_debt_bytes", |at| at * 1e8);
        assert_eq!(of(&growing(60)).0, Verdict::Failed);
        assert_eq!(of(&growing(20)).0, Verdict::Longer);
        assert_eq!(of_capacity(&Window::of(&growing(60))).verdict, Verdict::Passed);
    }

    #[test]
    fn a_probe_that_is_mostly_void_says_nothing() {
        let (verdict, reason) = of(&with_voids(seen(60, 1000, 100), 30));
        assert_eq!(verdict, Verdict::Invalid);
        assert_eq!(reason, "the client was late: 30 intervals are void");
    }

    #[test]
    fn a_closed_loop_without_a_limit_always_keeps_it() {
        let ruling = at_clients(&Window::of(&seen(60, 1000, 0)), None);
        assert_eq!((ruling.verdict, ruling.late.high.to_bits()), (Verdict::Passed, 0));
    }
}
