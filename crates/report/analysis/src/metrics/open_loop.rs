//! Metrics of open loops, limits and rate searches.

use model::record::OpSummary;
use model::{Load, Readings, StepRecord, float, metric};

use super::operations::ratio;
use super::throughput::{valid_clients, valid_length, valid_within_limit};
use super::times::Percentile;

/// Sets offered rate, goodput, sustainable rate, start lag, and invalid and censored shares.
pub(super) fn set(step: &StepRecord, metrics: &mut Readings) {
    let within = valid_within_limit(step).map(float);
    metrics.set(metric::GOODPUT_OPS_PER_S, ratio(within, Some(valid_length(step).as_secs_f64())));
    metrics.set(metric::SUSTAINABLE_OPS_PER_S, sustainable(step));
    metrics.set(metric::INVALID_SHARE, invalid_share(step));
    let Some(arrivals) = &step.arrivals else { return };
    let offered = Some(float(arrivals.offered));
    metrics.set(metric::OFFERED_OPS_PER_S, ratio(offered, Some(step.duration_ns.as_secs_f64())));
    metrics.set(metric::CENSORED_SHARE, ratio(Some(float(arrivals.censored)), offered));
    let lag = &arrivals.start_lag;
    let shown = |percentile: Percentile| percentile.shown(lag).map(float);
    metrics.set(metric::START_LAG_NS_P50, shown(Percentile::P50));
    metrics.set(metric::START_LAG_NS_P99, shown(Percentile::P99));
    metrics.set(metric::START_LAG_NS_P999, shown(Percentile::P999));
    metrics.set(metric::START_LAG_NS_MAX, (lag.count > 0).then(|| float(lag.max_ns)));
}

/// Returns the rate that a search for one found; a search for clients finds no rate.
fn sustainable(step: &StepRecord) -> Option<f64> {
    let found = step.search.as_ref()?.found?;
    matches!(step.step.load, Load::FindRate(_)).then_some(found.ops_per_s)
}

/// Returns the share of invalid intervals; `None` when not classified.
///
/// A record without any is all valid only where intervals were classified, as in open loops.
fn invalid_share(step: &StepRecord) -> Option<f64> {
    match &step.invalid_intervals {
        Some(invalid_intervals) => {
            let all = Some(f64::from(invalid_intervals.of_intervals));
            ratio(Some(f64::from(invalid_intervals.intervals)), all)
        }
        None => step.load_status.as_ref().map(|_| 0.0),
    }
}

/// Returns the share of operations beyond the limit.
///
/// Failed operations and censored arrivals count as late: the conservative side.
pub(crate) fn late_share(step: &StepRecord) -> Option<f64> {
    let within = valid_within_limit(step)?;
    let ended = |summary: &OpSummary| summary.counts.done + summary.counts.failed;
    let ended: u64 = valid_clients(step).values().map(ended).sum();
    let all = ended + step.arrivals.as_ref().map_or(0, |arrivals| arrivals.censored);
    (all > 0).then(|| float(all.saturating_sub(within)) / float(all))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::record::Percentiles;
    use model::validity::{
        ArrivalsRecord, InvalidCause, InvalidIntervals, LoadStatus, SearchRecord, SearchResult,
    };
    use model::{Nanos, OpKind, Pace};

    use crate::step_metrics;
    use crate::testing::{DATA, step, summary};

    use super::*;

    /// Two seconds at 5,000/s, of which `done` were done and `censored` were not.
    fn open(done: u64, censored: u64) -> StepRecord {
        let mut open = step(0, "readrandom");
        open.clients = [(OpKind::Get, summary(done, done))].into();
        open.within_limit = Some(done / 2);
        open.load_status = Some(LoadStatus::Sustained);
        open.arrivals = Some(ArrivalsRecord {
            pace: Pace::default(),
            offered: 10_000,
            censored,
            start_lag: summary(1_000, 0).response,
            backlog_ns: Nanos(0),
        });
        open
    }

    #[test]
    fn open_loop_has_offered_goodput_and_censored() {
        let metrics = step_metrics(&open(9_000, 1_000), &DATA);
        assert_eq!(metrics[metric::OFFERED_OPS_PER_S], 5_000.0);
        assert_eq!(metrics[metric::GOODPUT_OPS_PER_S], 2_250.0);
        assert_eq!((metrics[metric::CENSORED_SHARE], metrics[metric::INVALID_SHARE]), (0.1, 0.0));
        assert_eq!(
            (metrics[metric::START_LAG_NS_P50], metrics[metric::START_LAG_NS_P99]),
            (1e4, 3e4)
        );
        assert_eq!(metrics[metric::START_LAG_NS_MAX], 6e4);
        assert!(!metrics.has(metric::START_LAG_NS_P999));
    }

    #[test]
    fn closed_loop_has_no_open_loop_metrics() {
        let metrics = step_metrics(&step(0, "readrandom"), &DATA);
        for name in [
            metric::OFFERED_OPS_PER_S,
            metric::GOODPUT_OPS_PER_S,
            metric::CENSORED_SHARE,
            metric::INVALID_SHARE,
        ] {
            assert!(!metrics.has(name), "{name:?}");
        }
    }

    #[test]
    fn open_loop_without_waits_has_no_start_lag() {
        let mut open = open(9_000, 0);
        open.arrivals.as_mut().unwrap().start_lag = Percentiles::default();
        let metrics = step_metrics(&open, &DATA);
        assert!(metrics.keys().all(|name| !name.starts_with("start_lag")), "{metrics:?}");
    }

    #[test]
    fn rates_come_from_the_intervals_that_count_and_costs_from_all() {
        let mut open = open(9_000, 0);
        open.counters.set(metric::PROCESS_CPU_USER_US, 9_000.0);
        open.counters.set(metric::PROCESS_CPU_KERNEL_US, 9_000.0);
        open.seconds.seconds = 2;
        open.invalid_intervals = Some(InvalidIntervals {
            intervals: 1,
            of_intervals: 2,
            causes: vec![(InvalidCause::Steal, 1)],
            valid_ns: Nanos::SECOND,
            valid: [(OpKind::Get, summary(5_000, 6_000))].into(),
            within_limit: Some(4_000),
        });
        let metrics = step_metrics(&open, &DATA);
        assert_eq!(metrics[metric::THROUGHPUT_OPS_PER_S], 5_000.0);
        assert_eq!(metrics[metric::THROUGHPUT_ROWS_PER_S], 6_000.0);
        assert_eq!(metrics[metric::GOODPUT_OPS_PER_S], 4_000.0);
        assert_eq!((metrics[metric::INVALID_SHARE], metrics[metric::CPU_US_PER_OP]), (0.5, 2.0));
        assert!(!metrics.has(metric::THROUGHPUT_P50_OPS_PER_S));
        open.invalid_intervals.as_mut().unwrap().within_limit = None;
        assert!(!step_metrics(&open, &DATA).has(metric::GOODPUT_OPS_PER_S));
    }

    #[test]
    fn only_a_search_for_a_rate_finds_one() {
        let found = SearchResult { ops_per_s: 7_000.0, failed_ops_per_s: None, clients: 2 };
        let mut searched = open(9_000, 0);
        searched.search = Some(SearchRecord {
            limit: None,
            probes: Vec::new(),
            found: Some(found),
            ended: "the next rate failed".to_owned(),
            is_path_dependent: false,
        });
        searched.step.load = Load::FindRate(Pace::default());
        assert_eq!(step_metrics(&searched, &DATA)[metric::SUSTAINABLE_OPS_PER_S], 7_000.0);
        searched.step.load = Load::FindClients;
        assert!(!step_metrics(&searched, &DATA).has(metric::SUSTAINABLE_OPS_PER_S));
    }
}
