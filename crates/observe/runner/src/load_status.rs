//! Who could not keep up with an open loop: the engine, the client, or nobody.

use model::Nanos;
use model::validity::{ArrivalsRecord, Calibration, LoadStatus};

/// Share of the arrivals that must be served; below it there is no steady response time.
/// Source: the project's reference, analysis, section 5.2.
const SERVED_SHARE: f64 = 0.99;
/// Backlog at the end that tells of an engine falling behind, if it was still growing.
/// Source: the project's reference, analysis, section 5.2.
const BACKLOG_MAX: Nanos = Nanos::SECOND;
/// Share of the clients' working time that their own cost must explain to make them the cause.
/// Source: the project's reference, analysis, section 5.2: client threads above 85 %.
const CLIENT_SHARE: f64 = 0.85;
/// Share of void intervals above which nothing is said of the engine.
///
/// One second in five: what is left is a choice of the host, no sample of the step any more, and
/// half of a short step must not hang on one second. Reason, not a source: no reference has one.
const VOID_SHARE_MAX: f64 = 0.2;
/// Void intervals below which a share says nothing: one of three is bad luck.
const VOID_MIN: usize = 2;

/// What is known of an open loop's measured span.
pub(crate) struct Served<'a> {
    pub(crate) arrivals: &'a ArrivalsRecord,
    /// The measured clients.
    pub(crate) clients: u32,
    /// Operations that ended, failed ones included.
    pub(crate) ended: u64,
    pub(crate) duration: Nanos,
    /// Time the clients had nothing to do, all together, us.
    pub(crate) idle_us: Option<f64>,
    /// Backlog at the end of each interval.
    pub(crate) backlogs: &'a [Nanos],
    /// Whether each interval is void, in order.
    pub(crate) is_invalid: &'a [bool],
    pub(crate) calibration: Option<&'a Calibration>,
}

/// Returns who could not keep up.
pub(crate) fn load_status(served: &Served<'_>) -> LoadStatus {
    let invalid = served.is_invalid.iter().filter(|is_invalid| **is_invalid).count();
    if let Some(evidence) = too_many_voids(invalid, served.is_invalid.len()) {
        return LoadStatus::ClientBound { evidence };
    }
    let Some(behind) = behind(served) else { return LoadStatus::Sustained };
    if served.is_invalid.last() == Some(&true) {
        let evidence = format!("{behind}; the last interval is void");
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

/// Returns in words that too many of `all` intervals are void, if they are.
#[expect(clippy::cast_precision_loss, reason = "seconds of a step stay far below 2^53")]
pub(crate) fn too_many_voids(invalid: usize, all: usize) -> Option<String> {
    let is_nothing_left = invalid > 0 && invalid == all;
    let is_many = invalid >= VOID_MIN && invalid as f64 > VOID_SHARE_MAX * all as f64;
    (is_nothing_left || is_many).then(|| {
        let verb = if invalid == 1 { "is" } else { "are" };
        format!("{invalid} of {all} intervals {verb} void")
    })
}

/// Returns in words how the arrivals were not kept up with, if they were not.
///
/// An operation in hand at the end is no backlog: each client may have one.
fn behind(served: &Served<'_>) -> Option<String> {
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
fn client_share(served: &Served<'_>) -> Option<f64> {
    let cost_us = served.calibration?.closed_ns_per_op / 1e3 * float(served.ended);
    let all_us = f64::from(served.clients) * served.duration.as_secs_f64() * 1e6;
    let worked_us = all_us - served.idle_us.unwrap_or(0.0);
    (worked_us > 0.0).then(|| cost_us / worked_us)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a step stay far below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
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
    fn asked(left: u64, backlog_ms: u64, change: impl FnOnce(&mut Served<'_>)) -> LoadStatus {
        let arrivals = ArrivalsRecord {
            pace: Pace::default(),
            offered: 1_000_000,
            censored: left,
            start_lag: Percentiles::default(),
            backlog_ns: Nanos::from_millis(backlog_ms),
        };
        let backlogs: Vec<Nanos> =
            (1..=10).map(|at| Nanos::from_millis(backlog_ms * at / 10)).collect();
        let mut served = Served {
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
        assert_eq!(asked(10_000, 90, |_| {}), LoadStatus::Sustained);
        let load_status = asked(120_000, 1_320, |_| {});
        let LoadStatus::Overloaded { evidence } = load_status else { panic!("{load_status:?}") };
        assert_eq!(
            evidence,
            "88.0 % of 1000000 arrivals were served; the oldest left had waited 1.32 s"
        );
    }

    #[test]
    fn a_backlog_of_a_second_is_overload_only_while_it_grows() {
        assert!(is_overloaded(&asked(9_000, 1_200, |_| {})));
        const FALLING: [Nanos; 10] = [Nanos::from_secs(3); 10];
        assert_eq!(asked(9_000, 1_200, |served| served.backlogs = &FALLING), LoadStatus::Sustained);
    }

    #[test]
    fn operations_in_hand_at_the_end_are_no_backlog() {
        let few = |served: &mut Served<'_>| served.clients = 40;
        assert_eq!(asked(10_030, 90, few), LoadStatus::Sustained);
        assert!(is_overloaded(&asked(10_030, 90, |_| {})));
    }

    #[test]
    fn a_client_whose_own_cost_fills_its_time_is_the_bound() {
        // 880,000 operations of 100 ns: 88 ms of work in 100 ms of working time.
        let busy = |served: &mut Served<'_>| served.idle_us = Some(19_900_000.0);
        let load_status = asked(120_000, 1_320, busy);
        let LoadStatus::ClientBound { evidence } = load_status else { panic!("{load_status:?}") };
        assert!(evidence.ends_with("explains 88 % of its working time"), "{evidence}");
        let unknown = |served: &mut Served<'_>| {
            busy(served);
            served.calibration = None;
        };
        assert!(is_overloaded(&asked(120_000, 1_320, unknown)));
        assert_eq!(asked(0, 0, busy), LoadStatus::Sustained, "what is kept up with binds nobody");
    }

    #[test]
    fn what_the_client_left_is_not_held_against_the_engine() {
        const LAST: [bool; 3] = [false, false, true];
        let load_status = asked(120_000, 1_320, |served| served.is_invalid = &LAST);
        let LoadStatus::ClientBound { evidence } = load_status else { panic!("{load_status:?}") };
        assert!(evidence.ends_with("the last interval is void"), "{evidence}");
    }

    #[test]
    fn many_voids_or_nothing_left_say_nothing_of_the_engine() {
        assert_eq!(too_many_voids(0, 0), None);
        assert_eq!(too_many_voids(1, 3), None, "one second of three is bad luck");
        assert_eq!(too_many_voids(1, 1).as_deref(), Some("1 of 1 intervals is void"));
        assert_eq!(too_many_voids(2, 10), None);
        assert_eq!(too_many_voids(3, 10).as_deref(), Some("3 of 10 intervals are void"));
        const THREE: [bool; 10] =
            [true, false, true, false, false, false, false, false, true, false];
        let load_status = asked(0, 0, |served| served.is_invalid = &THREE);
        assert!(matches!(load_status, LoadStatus::ClientBound { .. }));
    }
}
