//! Tests for a steady state: backlog, stalls and debt.
//!
//! A short probe detects little: debt that grows by less than the cycle of its compactions, or
//! levels off only later, shows in the confirmation, which is ten times as long. So a probe fails
//! only on growth that is significant, relevant, and still present in its second half.

use model::load::SERVED_SHARE;
use model::{Limit, Metric, Nanos, float, metric};
use stats::series::{drift, trend};

use crate::format::{bytes, percent};
use crate::window::Window;

/// The state at the end of a probe.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// Steady.
    Steady,
    /// Not steady, for this reason.
    Unsteady(String),
    /// Growing, but slowing down: a longer probe can decide.
    Levelling(String),
}

/// Least age of a backlog, absolute and in multiples of the limit.
///
/// Our choice: more than a second of arrivals. A limit of seconds allows waits of seconds.
const MIN_BACKLOG: Nanos = Nanos::SECOND;
const BACKLOG_LIMITS: f64 = 10.0;
/// Largest share of the time in which writers may be stalled.
///
/// Our choice: stalls within the limit are allowed, but an engine that stalls its writers for
/// longer controls the rate itself.
const MAX_STALLED: f64 = 0.01;
/// Least relevant growth over a window, as a share of the gauge's mean.
const RELEVANT_SHARE: f64 = 0.10;
/// Least fall over a window that counts as debt being reduced, as a share.
const DEBT_FALL: f64 = 0.01;
/// Growth in the second half, relative to the first, below which it is slowing down.
const LEVELLING_SHARE: f64 = 0.5;

/// A gauge of deferred work.
struct Debt {
    /// Name of the metric.
    metric: Metric,
    /// Name in a sentence.
    label: &'static str,
    /// Least relevant growth in one window, at any level.
    floor: f64,
    /// Shortest window, in seconds, for testing growth.
    min_window_s: f64,
    /// Formats a value.
    write: fn(f64) -> String,
}

/// The engine's own debt.
///
/// 4 MiB is a tenth of a second of background writing on any disk.
const ENGINE_DEBT: Debt = Debt {
    metric: metric::ENGINE_DEBT_BYTES,
    label: "the engine's debt",
    floor: 4.0 * 1024.0 * 1024.0,
    min_window_s: 0.0,
    write: bytes,
};

/// Gauges that must not grow.
///
/// Files: `RocksDB` compacts from four files on (`level0_file_num_compaction_trigger`). Dirty
/// pages: the kernel leaves a page dirty for 30 s and then writes all of a file at once
/// (`dirty_expire_centisecs`), so a window must contain some of these cycles; 64 MiB are less than
/// a second of write-back, on a gauge shared by all processes of the host.
const DEBTS: [Debt; 3] = [
    ENGINE_DEBT,
    Debt {
        metric: metric::ENGINE_L0_FILES,
        label: "the number of files in level 0",
        floor: 4.0,
        min_window_s: 0.0,
        write: |files| format!("{files:.1}"),
    },
    Debt {
        metric: metric::DIRTY_BYTES,
        label: "the page cache waiting to be written",
        floor: 64.0 * 1024.0 * 1024.0,
        min_window_s: 120.0,
        write: bytes,
    },
];

/// Tests for overload: arrivals not completed, or a growing backlog.
pub(crate) fn load_state(window: &Window<'_>, offered_ops_per_s: f64, limit: &Limit) -> State {
    let offered = offered_ops_per_s * window.total_s();
    let missing = float(window.late_unserved()) / offered.max(1.0);
    if missing > 1.0 - SERVED_SHARE {
        let missing = percent(missing);
        return State::Unsteady(format!("{missing} of the arrivals were not served at the end"));
    }
    let backlog = window.backlog();
    let last_s = backlog.last().map_or(0.0, |(_, age_s)| *age_s);
    let most_s = MIN_BACKLOG.as_secs_f64().max(BACKLOG_LIMITS * limit.within.as_secs_f64());
    match trend(&backlog) {
        Some(trend) if trend.low > 0.0 && last_s > most_s => {
            State::Unsteady(format!("the backlog grew, to {last_s:.1} s"))
        }
        _ => State::Steady,
    }
}

/// Tests whether writers were stalled too long, also in the second half.
///
/// Stalls that have ceased by then come from inherited debt.
pub(crate) fn stalls(window: &Window<'_>) -> State {
    let stalls = window.gauge(metric::ENGINE_STALL_US);
    let share = |part: &[(f64, f64)]| {
        let stalled_us: f64 = part.iter().map(|(_, stall_us)| stall_us).sum();
        let part_s = window.length_s() * float(part.len()) / float(stalls.len()).max(1.0);
        if part_s > 0.0 { stalled_us / 1e6 / part_s } else { 0.0 }
    };
    let whole = share(&stalls);
    if whole.min(share(second_half(&stalls))) > MAX_STALLED {
        return State::Unsteady(format!("writers were stalled {} of the time", percent(whole)));
    }
    State::Steady
}

/// Tests whether any debt grew.
pub(crate) fn debts(window: &Window<'_>) -> State {
    let mut found = State::Steady;
    for debt in DEBTS.iter().filter(|debt| window.total_s() >= debt.min_window_s) {
        match growth(&window.gauge(debt.metric), debt) {
            State::Steady => (),
            levelling @ State::Levelling(_) => found = levelling,
            unsteady @ State::Unsteady(_) => return unsteady,
        }
    }
    found
}

/// Returns whether the engine reduced inherited debt.
pub(crate) fn is_debt_falling(window: &Window<'_>) -> bool {
    let Some(trend) = trend(&window.gauge(ENGINE_DEBT.metric)) else { return false };
    trend.high < 0.0 && -trend.growth() > ENGINE_DEBT.floor.max(DEBT_FALL * trend.level)
}

/// Returns whether a debt is relevantly above another.
pub(crate) fn is_debt_above(bytes: f64, rest_bytes: f64) -> bool {
    bytes - rest_bytes > ENGINE_DEBT.floor.max(RELEVANT_SHARE * rest_bytes)
}

/// Growth of a gauge.
struct Growth {
    /// Over the whole time.
    total: f64,
    /// Per second, with its confidence limits.
    pace: [f64; 3],
    /// Mean of the gauge.
    level: f64,
}

impl Growth {
    /// Returns the growth along a line, or step by step when only that is significant.
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

/// Tests one gauge for growth over the window and in its second half.
fn growth(gauge: &[(f64, f64)], debt: &Debt) -> State {
    let matters = |growth: &Growth| {
        growth.is_certain() && growth.total > debt.floor.max(RELEVANT_SHARE * growth.level)
    };
    let Some(whole) = Growth::of(gauge).filter(matters) else { return State::Steady };
    let [pace, low, high] = whole.pace.map(debt.write);
    let reason = format!("{} grew by {pace} a second ({low} to {high})", debt.label);
    let Some(second) = Growth::of(second_half(gauge)) else { return State::Levelling(reason) };
    if !second.is_certain() || second.total <= RELEVANT_SHARE / 2.0 * second.level {
        return State::Steady;
    }
    let first = trend(&gauge[..gauge.len() / 2]);
    let before = first.map_or(0.0, |line| line.growth());
    if second.total < LEVELLING_SHARE * before {
        State::Levelling(reason)
    } else {
        State::Unsteady(reason)
    }
}

fn second_half(points: &[(f64, f64)]) -> &[(f64, f64)] {
    &points[points.len() / 2..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::ProbeObservation;
    use crate::testing::{LIMIT, observation, with_gauge};
    use stats::testing::Noise;

    const MIB: f64 = 1024.0 * 1024.0;

    fn debt(seconds: usize, value: impl Fn(f64) -> f64) -> ProbeObservation {
        with_gauge(observation(seconds, 1000, 0), metric::ENGINE_DEBT_BYTES, value)
    }

    fn of(observation: &ProbeObservation) -> State {
        debts(&Window::of(observation))
    }

    #[test]
    fn debt_that_grows_to_the_end_is_unsteady() {
        let State::Unsteady(reason) = of(&debt(60, |at| at * MIB)) else { panic!("steady") };
        assert_eq!(reason, "the engine's debt grew by 1.00 MiB a second (1.00 MiB to 1.00 MiB)");
    }

    #[test]
    fn debt_that_levels_off_extends_the_probe() {
        let rising = |at: f64| 500.0 * MIB * (1.0 - (-at / 20.0).exp());
        assert!(matches!(of(&debt(60, rising)), State::Levelling(_)));
        assert_eq!(of(&debt(240, rising)), State::Steady);
    }

    #[test]
    fn cyclic_falling_or_irrelevant_debt_is_steady() {
        assert_eq!(of(&debt(60, |at| (at % 15.0) * 64.0 * MIB)), State::Steady);
        assert_eq!(of(&debt(60, |at| (1000.0 - at) * MIB)), State::Steady);
        assert_eq!(of(&debt(60, |at| at * 0.06 * MIB)), State::Steady, "below the floor");
        assert_eq!(of(&debt(60, |at| 5000.0 * MIB + at * MIB)), State::Steady, "1 % of the level");
        assert_eq!(of(&observation(60, 1000, 0)), State::Steady, "unreported");
    }

    #[test]
    fn debt_that_drifts_upward_is_detected() {
        let mut noise = Noise::new(5);
        let mut level = 0.0;
        let mut probe = debt(300, |_| 0.0);
        for second in &mut probe.seconds {
            level += (2.0 + 6.0 * noise.normal()) * MIB;
            second.readings.set(ENGINE_DEBT.metric, level);
        }
        assert!(matches!(of(&probe), State::Unsteady(_)), "{level}");
    }

    #[test]
    fn files_are_counted_from_four_and_dirty_pages_over_two_minutes() {
        let files = |per_s: f64| {
            with_gauge(observation(60, 1000, 0), metric::ENGINE_L0_FILES, move |at| {
                (at * per_s).floor()
            })
        };
        assert_eq!(of(&files(0.05)), State::Steady);
        assert!(matches!(of(&files(0.2)), State::Unsteady(_)));
        let dirty = |seconds| {
            with_gauge(observation(seconds, 1000, 0), metric::DIRTY_BYTES, |at| at * 8.0 * MIB)
        };
        assert_eq!(of(&dirty(60)), State::Steady);
        assert!(matches!(of(&dirty(120)), State::Unsteady(_)));
    }

    #[test]
    fn falling_debt_is_distinguished_from_constant_debt() {
        let is_falling = |value: fn(f64) -> f64| is_debt_falling(&Window::of(&debt(60, value)));
        assert!(is_falling(|at| (1000.0 - 10.0 * at) * MIB));
        assert!(!is_falling(|at| (1000.0 - 0.1 * at) * MIB));
        assert!(!is_falling(|at| (1e4 - at) * MIB));
        assert!(!is_falling(|_| 1000.0 * MIB));
        assert!(is_debt_above(10.0 * MIB, 0.0) && !is_debt_above(105.0 * MIB, 100.0 * MIB));
    }

    #[test]
    fn stalls_count_when_they_persist_in_the_second_half() {
        let stalled = |value: fn(f64) -> f64| {
            stalls(&Window::of(&with_gauge(
                observation(60, 1000, 0),
                metric::ENGINE_STALL_US,
                value,
            )))
        };
        let State::Unsteady(reason) = stalled(|_| 20_000.0) else { panic!("steady") };
        assert_eq!(reason, "writers were stalled 2 % of the time");
        assert_eq!(stalled(|_| 5_000.0), State::Steady);
        assert_eq!(stalled(|at| if at < 30.0 { 500_000.0 } else { 0.0 }), State::Steady);
    }

    #[test]
    fn a_backlog_counts_when_it_grows_beyond_the_limit() {
        let growing = |per_s_ms: u64| {
            let mut probe = observation(60, 1000, 0);
            for (at, second) in (0_u64..).zip(&mut probe.seconds) {
                second.backlog = Nanos::from_millis(at * per_s_ms);
            }
            load_state(&Window::of(&probe), 1000.0, &LIMIT)
        };
        assert_eq!(growing(50), State::Unsteady("the backlog grew, to 3.0 s".to_owned()));
        assert_eq!(growing(10), State::Steady);
    }

    #[test]
    fn arrivals_must_be_served() {
        let late_unserved = |censored_late| {
            let probe = ProbeObservation { censored_late, ..observation(60, 1000, 0) };
            load_state(&Window::of(&probe), 1000.0, &LIMIT)
        };
        let reason = "5 % of the arrivals were not served at the end";
        assert_eq!(late_unserved(3000), State::Unsteady(reason.to_owned()));
        assert_eq!(late_unserved(500), State::Steady);
    }
}
