//! Status of an open loop: sustained, overloaded or client-bound.

use model::load::SERVED_SHARE;
use model::validity::{ArrivalsRecord, Calibration, InvalidIntervals, LoadStatus, invalid_phrase};
use model::{Nanos, float};

/// Backlog at the end from which an engine falls behind, if it was still growing.
/// Our choice: a second is the length of an interval.
const BACKLOG_MAX: Nanos = Nanos::SECOND;
/// Share of the clients' working time that their own cost must explain to make them the cause.
/// Our choice: queueing delay grows without bound as a client's utilization nears 1.
const CLIENT_SHARE: f64 = 0.85;
/// Share of invalid intervals above which a step does not represent the engine.
///
/// Our choice: with more than one second in five invalid, the rest is a selection by the host and
/// no sample of the step; and half of a short step must not depend on one second.
const INVALID_SHARE_MAX: f64 = 0.2;
/// Invalid intervals below which a share has no meaning: one of three may be chance.
pub const INVALID_MIN: usize = 2;

/// Measurements of an open loop's measured span.
pub(crate) struct OpenLoopTotals<'a> {
    pub(crate) arrivals: &'a ArrivalsRecord,
    /// Threads of the measured clients.
    pub(crate) clients: u32,
    /// Operations that ended, failed ones included.
    pub(crate) ended: u64,
    pub(crate) duration: Nanos,
    /// Time the clients had nothing to do, all together, us.
    pub(crate) idle_us: Option<f64>,
    /// Backlog at the end of each interval.
    pub(crate) backlogs: &'a [Nanos],
    /// Whether each interval is invalid, in order.
    pub(crate) is_invalid: &'a [bool],
    pub(crate) calibration: Option<&'a Calibration>,
}

/// Returns whether the load was sustained, and what limited it otherwise.
pub(crate) fn load_status(served: &OpenLoopTotals<'_>) -> LoadStatus {
    let invalid = served.is_invalid.iter().filter(|is_invalid| **is_invalid).count();
    if let Some(evidence) = too_many_invalid(invalid, served.is_invalid.len()) {
        return LoadStatus::ClientBound { evidence };
    }
    let Some(behind) = behind(served) else { return LoadStatus::Sustained };
    if served.is_invalid.last() == Some(&true) {
        let evidence = format!("{behind}; the last interval is invalid");
        return LoadStatus::ClientBound { evidence };
    }
    match client_share(served) {
        Some(share) if share > CLIENT_SHARE => LoadStatus::ClientBound {
            evidence: format!(
                "{behind}; the client's own cost explains {:.0} % of its working time",
                share.min(1.0) * 100.0
            ),
        },
        _ => LoadStatus::Overloaded { evidence: behind },
    }
}

/// Describes too many invalid intervals of `all`, if they are.
pub(crate) fn too_many_invalid(invalid: usize, all: usize) -> Option<String> {
    let is_nothing_left = invalid > 0 && invalid == all;
    let is_many = invalid >= INVALID_MIN && invalid as f64 > INVALID_SHARE_MAX * all as f64;
    (is_nothing_left || is_many).then(|| invalid_phrase(invalid, all))
}

/// Returns whether the valid rest of a step represents the whole.
pub fn is_usable(invalid_intervals: &InvalidIntervals) -> bool {
    too_many_invalid(invalid_intervals.intervals as usize, invalid_intervals.of_intervals as usize)
        .is_none()
}

/// Describes how the load fell behind, if it did.
///
/// An operation in flight at the end is no backlog: each client may have one.
fn behind(served: &OpenLoopTotals<'_>) -> Option<String> {
    let arrivals = served.arrivals;
    let left = arrivals.censored.saturating_sub(u64::from(served.clients));
    let share = 1.0 - float(left) / float(arrivals.offered.max(1));
    if share < SERVED_SHARE {
        return Some(format!(
            "{:.1} % of {} arrivals were served; the oldest left had waited {}",
            share * 100.0,
            arrivals.offered,
            arrivals.backlog_ns
        ));
    }
    let middle = served.backlogs.get(served.backlogs.len() / 2).copied().unwrap_or_default();
    (arrivals.backlog_ns > BACKLOG_MAX && arrivals.backlog_ns > middle).then(|| {
        format!(
            "arrivals waited {} at the end, and {middle} in the middle of the step",
            arrivals.backlog_ns
        )
    })
}

/// Returns the share of the clients' working time that their own calibrated cost explains.
fn client_share(served: &OpenLoopTotals<'_>) -> Option<f64> {
    let cost_us = served.calibration?.closed_ns_per_op / 1e3 * float(served.ended);
    let all_us = f64::from(served.clients) * served.duration.as_secs_f64() * 1e6;
    let worked_us = all_us - served.idle_us.unwrap_or(0.0);
    (worked_us > 0.0).then(|| cost_us / worked_us)
}

#[cfg(test)]
mod tests {
    use model::Pace;
    use model::record::Percentiles;

    use super::*;

    const CALIBRATION: Calibration = Calibration {
        clients: 2,
        closed_ns_per_op: 100.0,
        ceiling_ops_per_s: 10e6,
        start_lag: None,
        start_lag_ops_per_s: None,
    };

    /// Ten seconds at 100 k/s by two clients; `left` arrivals were not served.
    fn status(
        left: u64,
        backlog_ms: u64,
        change: impl FnOnce(&mut OpenLoopTotals<'_>),
    ) -> LoadStatus {
        let arrivals = ArrivalsRecord {
            pace: Pace::default(),
            offered: 1_000_000,
            censored: left,
            start_lag: Percentiles::default(),
            backlog_ns: Nanos::from_millis(backlog_ms),
        };
        let backlogs: Vec<Nanos> =
            (1..=10).map(|at| Nanos::from_millis(backlog_ms * at / 10)).collect();
        let mut served = OpenLoopTotals {
            arrivals: &arrivals,
            clients: 2,
            ended: 1_000_000 - left,
            duration: Nanos::from_secs(10),
            idle_us: Some(0.0),
            backlogs: &backlogs,
            is_invalid: &[false; 10],
            calibration: Some(&CALIBRATION),
        };
        change(&mut served);
        load_status(&served)
    }

    fn is_overloaded(load_status: &LoadStatus) -> bool {
        matches!(load_status, LoadStatus::Overloaded { .. })
    }

    #[test]
    fn an_engine_that_leaves_arrivals_is_overloaded() {
        assert_eq!(status(10_000, 90, |_| {}), LoadStatus::Sustained);
        let load_status = status(120_000, 1_320, |_| {});
        let LoadStatus::Overloaded { evidence } = load_status else { panic!("{load_status:?}") };
        assert_eq!(
            evidence,
            "88.0 % of 1000000 arrivals were served; the oldest left had waited 1.32 s"
        );
    }

    #[test]
    fn a_backlog_of_a_second_is_overload_only_while_it_grows() {
        assert!(is_overloaded(&status(9_000, 1_200, |_| {})));
        const FALLING: [Nanos; 10] = [Nanos::from_secs(3); 10];
        assert_eq!(
            status(9_000, 1_200, |served| served.backlogs = &FALLING),
            LoadStatus::Sustained
        );
    }

    #[test]
    fn operations_in_flight_at_the_end_are_no_backlog() {
        let few = |served: &mut OpenLoopTotals<'_>| served.clients = 40;
        assert_eq!(status(10_030, 90, few), LoadStatus::Sustained);
        assert!(is_overloaded(&status(10_030, 90, |_| {})));
    }

    #[test]
    fn a_client_whose_own_cost_fills_its_time_is_the_bound() {
        // 880,000 operations of 100 ns: 88 ms of work in 100 ms of working time.
        let busy = |served: &mut OpenLoopTotals<'_>| served.idle_us = Some(19_900_000.0);
        let load_status = status(120_000, 1_320, busy);
        let LoadStatus::ClientBound { evidence } = load_status else { panic!("{load_status:?}") };
        assert!(evidence.ends_with("explains 88 % of its working time"), "{evidence}");
        let unknown = |served: &mut OpenLoopTotals<'_>| {
            busy(served);
            served.calibration = None;
        };
        assert!(is_overloaded(&status(120_000, 1_320, unknown)));
        assert_eq!(status(0, 0, busy), LoadStatus::Sustained, "a sustained load has no bound");
    }

    #[test]
    fn a_backlog_after_an_invalid_last_interval_is_the_client_s() {
        const LAST: [bool; 3] = [false, false, true];
        let load_status = status(120_000, 1_320, |served| served.is_invalid = &LAST);
        let LoadStatus::ClientBound { evidence } = load_status else { panic!("{load_status:?}") };
        assert!(evidence.ends_with("the last interval is invalid"), "{evidence}");
    }

    #[test]
    fn too_many_invalid_intervals_are_client_bound() {
        assert_eq!(too_many_invalid(0, 0), None);
        assert_eq!(too_many_invalid(1, 3), None, "one second of three may be chance");
        assert_eq!(too_many_invalid(1, 1).as_deref(), Some("the only interval is invalid"));
        assert_eq!(too_many_invalid(2, 2).as_deref(), Some("both intervals are invalid"));
        assert_eq!(too_many_invalid(2, 10), None);
        assert_eq!(too_many_invalid(3, 10).as_deref(), Some("3 of 10 intervals are invalid"));
        assert_eq!(too_many_invalid(9, 9).as_deref(), Some("all 9 intervals are invalid"));
        const THREE: [bool; 10] =
            [true, false, true, false, false, false, false, false, true, false];
        let load_status = status(0, 0, |served| served.is_invalid = &THREE);
        assert!(matches!(load_status, LoadStatus::ClientBound { .. }));
    }
}
