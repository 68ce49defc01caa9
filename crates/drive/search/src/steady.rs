//! Whether an engine could go on like this: backlog, stalls and debt.
//!
//! A short probe sees little: debt that grows by less than the cycle of its compactions, or levels
//! off only later, shows in the confirmation, which is ten times as long. So a probe is only
//! failed on growth that is certain, relevant, and still there in its second half.

use model::{Limit, Nanos};
use stats::series::{drift, trend};

use crate::window::{Window, float};
use crate::words::{bytes, percent};

/// What is known of the state at the end of a probe.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// It could go on like this.
    Steady,
    /// It could not, for the reason given.
    Unsteady(String),
    /// Something grew, but less and less: a longer probe can tell.
    Levelling(String),
}

/// Share of the offered operations that must be completed.
///
/// Source: the project's reference, analysis, section 5.2.
const LEAST_COMPLETED: f64 = 0.99;
/// Least age of a backlog that counts as one, and how many times the limit it must be.
///
/// Source: the project's reference, analysis, section 5.2: more than a second of arrivals. A limit
/// of seconds allows waits of seconds.
const LEAST_BACKLOG: Nanos = Nanos::SECOND;
const BACKLOG_LIMITS: f64 = 10.0;
/// Share of the time in which writers may be stalled.
///
/// A stall within the limit breaks no promise; but an engine that holds its writers back for more
/// than this sets the pace itself.
const MOST_STALLED: f64 = 0.01;
/// Growth over a window that matters, as a share of the gauge's mean.
const RELEVANT_SHARE: f64 = 0.10;
/// Fall over a window that shows debt being worked off: a hundred such windows end it.
const WORKED_OFF: f64 = 0.01;
/// Growth in the second half that is "less and less", as a share of the growth in the first.
const LEVELLING: f64 = 0.5;

/// A gauge of deferred work.
struct Debt {
    /// Name of the metric.
    metric: &'static str,
    /// What it is called in a sentence.
    words: &'static str,
    /// Growth in one window that is too little to matter, whatever the level.
    floor: f64,
    /// Shortest window, in seconds, in which growth says anything.
    least_window_s: f64,
    /// Writes a value.
    write: fn(f64) -> String,
}

/// The engine's own debt.
///
/// 4 MiB is a tenth of a second of background writing on any disk.
const ENGINE_DEBT: Debt = Debt {
    metric: "engine_debt_bytes",
    words: "the engine's debt",
    floor: 4.0 * 1024.0 * 1024.0,
    least_window_s: 0.0,
    write: bytes,
};

/// What may not grow.
///
/// Files: `RocksDB` lets four wait before it compacts them (`level0_file_num_compaction_trigger`).
/// Dirty pages: the kernel leaves a page dirty for 30 s and then writes all of a file at once
/// (`dirty_expire_centisecs`), so a window must hold some of these cycles; and 64 MiB are less than
/// a second of writing back, on a gauge that all processes of the host share.
const DEBTS: [Debt; 3] = [
    ENGINE_DEBT,
    Debt {
        metric: "engine_l0_files",
        words: "the number of files in level 0",
        floor: 4.0,
        least_window_s: 0.0,
        write: |files| format!("{files:.1}"),
    },
    Debt {
        metric: "dirty_bytes",
        words: "the page cache waiting to be written",
        floor: 64.0 * 1024.0 * 1024.0,
        least_window_s: 120.0,
        write: bytes,
    },
];

/// Returns how arrivals were kept up with: completed, and no growing backlog.
///
/// Source: the project's reference, analysis, section 5.2 (overloaded).
pub(crate) fn load_status(window: &Window<'_>, offered_ops_per_s: f64, limit: &Limit) -> State {
    let offered = offered_ops_per_s * window.total_s();
    let missing = float(window.unserved()) / offered.max(1.0);
    if missing > 1.0 - LEAST_COMPLETED {
        let missing = percent(missing);
        return State::Unsteady(format!("{missing} of the arrivals were not served at the end"));
    }
    let backlog = window.backlog();
    let last_s = backlog.last().map_or(0.0, |(_, age_s)| *age_s);
    let most_s = LEAST_BACKLOG.as_secs_f64().max(BACKLOG_LIMITS * limit.within.as_secs_f64());
    match trend(&backlog) {
        Some(trend) if trend.low > 0.0 && last_s > most_s => {
            State::Unsteady(format!("the backlog grew, to {last_s:.1} s"))
        }
        _ => State::Steady,
    }
}

/// Returns whether writers were stalled for too much of the time, and still in the second half.
///
/// Stalls that have ceased by then are those of the debt the probe began with.
pub(crate) fn stalls(window: &Window<'_>) -> State {
    let stalls = window.gauge("engine_stall_us");
    let share = |part: &[(f64, f64)]| {
        let stalled_us: f64 = part.iter().map(|(_, stall_us)| stall_us).sum();
        let part_s = window.length_s() * length(part) / length(&stalls).max(1.0);
        if part_s > 0.0 { stalled_us / 1e6 / part_s } else { 0.0 }
    };
    let whole = share(&stalls);
    if whole.min(share(second_half(&stalls))) > MOST_STALLED {
        return State::Unsteady(format!("writers were stalled {} of the time", percent(whole)));
    }
    State::Steady
}

/// Returns whether any debt grew.
pub(crate) fn debts(window: &Window<'_>) -> State {
    let mut found = State::Steady;
    for debt in DEBTS.iter().filter(|debt| window.total_s() >= debt.least_window_s) {
        match growth(&window.gauge(debt.metric), debt) {
            State::Steady => (),
            levelling @ State::Levelling(_) => found = levelling,
            unsteady @ State::Unsteady(_) => return unsteady,
        }
    }
    found
}

/// Returns whether the engine worked off what the probe began with.
pub(crate) fn is_debt_falling(window: &Window<'_>) -> bool {
    let Some(trend) = trend(&window.gauge(ENGINE_DEBT.metric)) else { return false };
    trend.high < 0.0 && -trend.growth() > ENGINE_DEBT.floor.max(WORKED_OFF * trend.level)
}

/// Returns whether a debt is so far above another that it matters.
pub(crate) fn is_debt_above(bytes: f64, rest_bytes: f64) -> bool {
    bytes - rest_bytes > ENGINE_DEBT.floor.max(RELEVANT_SHARE * rest_bytes)
}

/// Growth of a gauge.
struct Growth {
    /// Over the whole time.
    total: f64,
    /// Per second, and its limits.
    pace: [f64; 3],
    /// Mean of the gauge.
    level: f64,
}

impl Growth {
    /// Returns the growth along a line, or from step to step when only that is certain.
    ///
    /// None when there are too few values.
    fn of(gauge: &[(f64, f64)]) -> Option<Self> {
        let (line, steps) = (trend(gauge)?, drift(gauge)?);
        let pace = match line.low > 0.0 {
            true => [line.slope, line.low, line.high],
            false => [steps.value, steps.low, steps.high],
        };
        Some(Self { total: pace[0] * line.span_s, pace, level: line.level })
    }

    fn is_certain(&self) -> bool {
        self.pace[1] > 0.0
    }
}

/// Returns whether one gauge grew: over the whole window, and still in its second half.
fn growth(gauge: &[(f64, f64)], debt: &Debt) -> State {
    let matters = |growth: &Growth| {
        growth.is_certain() && growth.total > debt.floor.max(RELEVANT_SHARE * growth.level)
    };
    let Some(whole) = Growth::of(gauge).filter(matters) else { return State::Steady };
    let [pace, low, high] = whole.pace.map(debt.write);
    let reason = format!("{} grew by {pace} a second ({low} to {high})", debt.words);
    let Some(second) = Growth::of(second_half(gauge)) else { return State::Levelling(reason) };
    if !second.is_certain() || second.total <= RELEVANT_SHARE / 2.0 * second.level {
        return State::Steady;
    }
    let before = rise(first_half(gauge));
    if second.total < LEVELLING * before {
        State::Levelling(reason)
    } else {
        State::Unsteady(reason)
    }
}

/// Returns by how much a gauge rose, along a line.
fn rise(gauge: &[(f64, f64)]) -> f64 {
    trend(gauge).map_or(0.0, |line| line.growth())
}

fn first_half(points: &[(f64, f64)]) -> &[(f64, f64)] {
    &points[..points.len() / 2]
}

fn second_half(points: &[(f64, f64)]) -> &[(f64, f64)] {
    &points[points.len() / 2..]
}

fn length(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|_| 1.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{LIMIT, seen, with_gauge};
    use crate::probe::ProbeObservation;
    use stats::noise::Noise;

    const MIB: f64 = 1024.0 * 1024.0;

    fn debt(seconds: usize, value: impl Fn(f64) -> f64) -> ProbeObservation {
        with_gauge(seen(seconds, 1000, 0), "engine_debt_bytes", value)
    }

    fn of(seen: &ProbeObservation) -> State {
        debts(&Window::of(seen))
    }

    #[test]
    fn debt_that_grows_to_the_end_is_unsteady() {
        let State::Unsteady(reason) = of(&debt(60, |at| at * MIB)) else { panic!("steady") };
        assert_eq!(reason, "the engine's debt grew by 1.00 MiB a second (1.00 MiB to 1.00 MiB)");
    }

    #[test]
    fn debt_that_levels_off_is_given_more_time() {
        let rising = |at: f64| 500.0 * MIB * (1.0 - (-at / 20.0).exp());
        assert!(matches!(of(&debt(60, rising)), State::Levelling(_)));
        assert_eq!(of(&debt(240, rising)), State::Steady);
    }

    #[test]
    fn debt_that_comes_and_goes_or_falls_or_hardly_matters_is_steady() {
        assert_eq!(of(&debt(60, |at| (at % 15.0) * 64.0 * MIB)), State::Steady);
        assert_eq!(of(&debt(60, |at| (1000.0 - at) * MIB)), State::Steady);
        assert_eq!(of(&debt(60, |at| at * 0.06 * MIB)), State::Steady, "below the floor");
        assert_eq!(of(&debt(60, |at| 5000.0 * MIB + at * MIB)), State::Steady, "1 % of the level");
        assert_eq!(of(&seen(60, 1000, 0)), State::Steady, "nobody tells");
    }

    #[test]
    fn debt_that_wanders_upward_is_found() {
        let mut noise = Noise::new(5);
        let mut level = 0.0;
        let mut probe = debt(300, |_| 0.0);
        for second in &mut probe.seconds {
            level += (2.0 + 6.0 * noise.normal()) * MIB;
            second.readings.insert(ENGINE_DEBT.metric.to_owned(), level);
        }
        assert!(matches!(of(&probe), State::Unsteady(_)), "{level}");
    }

    #[test]
    fn files_are_counted_from_four_and_dirty_pages_over_two_minutes() {
        let files = |per_s: f64| {
            with_gauge(seen(60, 1000, 0), "engine_l0_files", move |at| (at * per_s).floor())
        };
        assert_eq!(of(&files(0.05)), State::Steady);
        assert!(matches!(of(&files(0.2)), State::Unsteady(_)));
        let dirty =
            |seconds| with_gauge(seen(seconds, 1000, 0), "dirty_bytes", |at| at * 8.0 * MIB);
        assert_eq!(of(&dirty(60)), State::Steady);
        assert!(matches!(of(&dirty(120)), State::Unsteady(_)));
    }

    #[test]
    fn falling_debt_is_told_from_resting_debt() {
        let is_falling = |value: fn(f64) -> f64| is_debt_falling(&Window::of(&debt(60, value)));
        assert!(is_falling(|at| (1000.0 - 10.0 * at) * MIB));
        assert!(!is_falling(|at| (1000.0 - 0.1 * at) * MIB));
        assert!(!is_falling(|at| (1e4 - at) * MIB));
        assert!(!is_falling(|_| 1000.0 * MIB));
        assert!(is_debt_above(10.0 * MIB, 0.0) && !is_debt_above(105.0 * MIB, 100.0 * MIB));
    }

    #[test]
    fn stalls_count_when_they_are_still_there_in_the_second_half() {
        let stalled = |value: fn(f64) -> f64| {
            stalls(&Window::of(&with_gauge(seen(60, 1000, 0), "engine_stall_us", value)))
        };
        let State::Unsteady(reason) = stalled(|_| 20_000.0) else { panic!("steady") };
        assert_eq!(reason, "writers were stalled 2 % of the time");
        assert_eq!(stalled(|_| 5_000.0), State::Steady);
        assert_eq!(stalled(|at| if at < 30.0 { 500_000.0 } else { 0.0 }), State::Steady);
    }

    #[test]
    fn a_backlog_counts_when_it_grows_beyond_what_the_limit_allows() {
        let growing = |per_s_ms: u64| {
            let mut probe = seen(60, 1000, 0);
            for (at, second) in (0_u64..).zip(&mut probe.seconds) {
                second.backlog = Nanos::from_millis(at * per_s_ms);
            }
            load_status(&Window::of(&probe), 1000.0, &LIMIT)
        };
        assert_eq!(growing(50), State::Unsteady("the backlog grew, to 3.0 s".to_owned()));
        assert_eq!(growing(10), State::Steady);
    }

    #[test]
    fn arrivals_must_be_served() {
        let unserved = |censored_late| {
            let probe = ProbeObservation { censored_late, ..seen(60, 1000, 0) };
            load_status(&Window::of(&probe), 1000.0, &LIMIT)
        };
        let reason = "5 % of the arrivals were not served at the end";
        assert_eq!(unserved(3000), State::Unsteady(reason.to_owned()));
        assert_eq!(unserved(500), State::Steady);
    }
}
