//! Percentiles of response and service times, or why they are absent.

use model::record::{OpSummary, Percentiles};
use model::validity::LoadStatus;
use model::{Metric, Nanos, Readings, StepRecord, float, metric};
use serde::Serialize;

use super::throughput::valid_clients;

/// Operations that must lie beyond a percentile for it to be shown.
///
/// Our choice, n (1 - p) >= 10: the count beyond then has a relative error of a third.
const MIN_BEYOND: u64 = 10;

/// A percentile of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Percentile {
    /// Half of the operations.
    P50,
    /// 90 % of the operations.
    P90,
    /// 99 % of the operations.
    P99,
    /// 99.9 % of the operations.
    P999,
    /// 99.99 % of the operations.
    P9999,
}

model::names!(Percentile, "a percentile":
    P50 "p50", P90 "p90", P99 "p99", P999 "p99.9", P9999 "p99.99");

impl Percentile {
    /// Returns the operations for each one beyond the percentile: 1 / (1 - p).
    const fn one_in(self) -> u64 {
        match self {
            Self::P50 => 2,
            Self::P90 => 10,
            Self::P99 => 100,
            Self::P999 => 1_000,
            Self::P9999 => 10_000,
        }
    }

    /// Returns how many operations it takes before the percentile is shown.
    ///
    /// Our choice, n (1 - p) >= 10: the count beyond then has a relative error of a third.
    pub const fn operations_needed(self) -> u64 {
        MIN_BEYOND * self.one_in()
    }

    /// Returns the percentile's value, however few operations it comes from.
    const fn of(self, times: &Percentiles) -> Nanos {
        Nanos(match self {
            Self::P50 => times.p50_ns,
            Self::P90 => times.p90_ns,
            Self::P99 => times.p99_ns,
            Self::P999 => times.p999_ns,
            Self::P9999 => times.p9999_ns,
        })
    }

    /// Returns the percentile when enough operations stand behind it.
    ///
    /// Source: [`Self::operations_needed`].
    pub fn shown(self, times: &Percentiles) -> Option<Nanos> {
        (times.count >= self.operations_needed()).then(|| self.of(times))
    }
}

/// A percentile's value, or why it is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Time {
    /// Its value.
    Known {
        /// The value.
        ns: Nanos,
    },
    /// A lower limit: too many arrivals were censored, at their ages.
    AtLeast {
        /// The limit.
        ns: Nanos,
    },
    /// Nothing.
    Withheld {
        /// Why.
        why: Withheld,
    },
    /// No value: too few operations.
    TooFew {
        /// Operations it takes.
        needed: u64,
        /// Operations there are.
        counted: u64,
    },
}

impl Time {
    /// Returns the value when it is known.
    pub const fn known(self) -> Option<Nanos> {
        match self {
            Self::Known { ns } => Some(ns),
            Self::AtLeast { .. } | Self::Withheld { .. } | Self::TooFew { .. } => None,
        }
    }
}

/// Why a percentile is withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Withheld {
    /// The engine was overloaded: the longer the step, the longer its response times.
    Overloaded,
    /// The clients did several kinds of operation; percentiles cannot be merged from summaries.
    MixedKinds,
    /// No operation was timed.
    Nothing,
}

impl Withheld {
    /// Returns the reason in a few words.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Overloaded => "overloaded: no steady response time exists at this rate",
            Self::MixedKinds => "several kinds of operation: their times are not merged",
            Self::Nothing => "no operation was timed",
        }
    }
}

/// The metrics of response and service time of each percentile.
const METRICS: [(Percentile, Metric, Metric); 5] = [
    (Percentile::P50, metric::RESPONSE_NS_P50, metric::SERVICE_NS_P50),
    (Percentile::P90, metric::RESPONSE_NS_P90, metric::SERVICE_NS_P90),
    (Percentile::P99, metric::RESPONSE_NS_P99, metric::SERVICE_NS_P99),
    (Percentile::P999, metric::RESPONSE_NS_P999, metric::SERVICE_NS_P999),
    (Percentile::P9999, metric::RESPONSE_NS_P9999, metric::SERVICE_NS_P9999),
];

/// Sets the known percentiles of response and service times.
///
/// The maximum needs no more than one operation; a censored arrival counts with its age.
pub(super) fn set(step: &StepRecord, metrics: &mut Readings) {
    for (percentile, response, service) in METRICS {
        metrics.set(response, response_time(step, percentile).known().map(float));
        metrics.set(service, service_time(step, percentile).known().map(float));
    }
    let longest = |which: fn(&OpSummary) -> &Percentiles| {
        let times = valid_clients(step).values().map(which).filter(|times| times.count > 0);
        times.map(|times| times.max_ns).max().map(float)
    };
    if !is_overloaded(step) {
        metrics.set(metric::RESPONSE_NS_MAX, longest(|summary| &summary.response));
    }
    metrics.set(metric::SERVICE_NS_MAX, longest(|summary| &summary.service));
}

fn is_overloaded(step: &StepRecord) -> bool {
    matches!(step.load_status, Some(LoadStatus::Overloaded { .. }))
}

/// Returns a percentile of the clients' response times.
///
/// Of valid intervals. An overloaded step has no steady response time: its backlog, and with it
/// every percentile, grows for as long as the step lasts. When the censored share of the arrivals
/// exceeds 1 - p, the percentile lies among those not served: it is at least the value.
///
/// Source: censored times are lower bounds [Kaplan Meier 1958]; response time is from the intended
/// start [Tene 2015].
pub fn response_time(step: &StepRecord, percentile: Percentile) -> Time {
    if is_overloaded(step) {
        return Time::Withheld { why: Withheld::Overloaded };
    }
    let times = match only(step, |summary| &summary.response) {
        Ok(times) => times,
        Err(why) => return Time::Withheld { why },
    };
    let percentile_of = enough(times, percentile);
    // All censored arrivals count as valid ones: the conservative side.
    let is_beyond = censored(step).saturating_mul(percentile.one_in()) > times.count;
    percentile_of.known().filter(|_| is_beyond).map_or(percentile_of, |ns| Time::AtLeast { ns })
}

/// Returns a percentile of the clients' service times.
///
/// Of valid intervals. Known even when the engine was overloaded.
pub fn service_time(step: &StepRecord, percentile: Percentile) -> Time {
    match only(step, |summary| &summary.service) {
        Ok(times) => enough(times, percentile),
        Err(why) => Time::Withheld { why },
    }
}

fn enough(times: &Percentiles, percentile: Percentile) -> Time {
    let (needed, counted) = (percentile.operations_needed(), times.count);
    percentile.shown(times).map_or(Time::TooFew { needed, counted }, |ns| Time::Known { ns })
}

fn censored(step: &StepRecord) -> u64 {
    step.arrivals.as_ref().map_or(0, |arrivals| arrivals.censored)
}

/// Returns the times of the only kind of operation that was timed.
fn only(
    step: &StepRecord,
    which: impl Fn(&OpSummary) -> &Percentiles,
) -> Result<&Percentiles, Withheld> {
    let mut timed = valid_clients(step).values().map(which).filter(|times| times.count > 0);
    match (timed.next(), timed.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(Withheld::MixedKinds),
        (None, _) => Err(Withheld::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use model::OpKind;
    use model::validity::{ArrivalsRecord, InvalidIntervals};

    use super::*;
    use crate::testing::{DATA, step, summary};

    /// A step of `done` reads; the sample's p99 of the response is 30,000 ns.
    fn reads(done: u64) -> StepRecord {
        let clients = [(OpKind::Get, summary(done, done))].into();
        StepRecord { clients, ..step(0, "readrandom") }
    }

    fn censoring(done: u64, censored: u64) -> StepRecord {
        let arrivals = ArrivalsRecord {
            pace: model::Pace::default(),
            offered: done,
            censored,
            start_lag: Percentiles::default(),
            backlog_ns: Nanos(0),
        };
        StepRecord { arrivals: Some(arrivals), ..reads(done) }
    }

    #[test]
    fn ten_operations_must_lie_beyond_a_percentile() {
        let needed: Vec<u64> = Percentile::ALL.map(Percentile::operations_needed).to_vec();
        assert_eq!(needed, [20, 100, 1_000, 10_000, 100_000]);
        let known = Time::Known { ns: Nanos(30_000) };
        assert_eq!(response_time(&reads(1_000), Percentile::P99), known);
        let few = Time::TooFew { needed: 1_000, counted: 999 };
        assert_eq!(response_time(&reads(999), Percentile::P99), few);
        assert_eq!(service_time(&reads(999), Percentile::P99), few);
        let metrics = crate::step_metrics(&reads(999), &DATA);
        assert!(metrics.has(metric::RESPONSE_NS_P90) && metrics.has(metric::SERVICE_NS_P90));
        assert!(!metrics.has(metric::RESPONSE_NS_P99) && !metrics.has(metric::SERVICE_NS_P99));
        assert!(metrics.has(metric::RESPONSE_NS_MAX) && metrics.has(metric::SERVICE_NS_MAX));
    }

    #[test]
    fn several_kinds_of_operation_have_only_a_longest_time() {
        let mut mixed = reads(10_000);
        mixed.clients.insert(OpKind::Put, summary(10_000, 10_000));
        let why = Withheld::MixedKinds;
        assert_eq!(response_time(&mixed, Percentile::P50), Time::Withheld { why });
        let metrics = crate::step_metrics(&mixed, &DATA);
        assert!(!metrics.has(metric::RESPONSE_NS_P50));
        assert!((metrics[metric::RESPONSE_NS_MAX] - 60_000.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_percentile_among_the_arrivals_not_served_is_a_lower_limit() {
        let step = censoring(100_000, 1_001);
        let at_least = Time::AtLeast { ns: Nanos(30_000) };
        assert_eq!(response_time(&step, Percentile::P99), at_least);
        assert!(response_time(&step, Percentile::P90).known().is_some());
        assert!(service_time(&step, Percentile::P99).known().is_some());
        assert!(response_time(&censoring(100_000, 1_000), Percentile::P99).known().is_some());
        assert!(!crate::step_metrics(&step, &DATA).has(metric::RESPONSE_NS_P99));
    }

    #[test]
    fn an_overloaded_step_has_service_times_but_no_response_times() {
        let evidence = "480 of 500 arrivals were served".to_owned();
        let step =
            StepRecord { load_status: Some(LoadStatus::Overloaded { evidence }), ..reads(100_000) };
        let why = Withheld::Overloaded;
        assert_eq!(response_time(&step, Percentile::P50), Time::Withheld { why });
        let metrics = crate::step_metrics(&step, &DATA);
        assert!(metrics.keys().all(|name| !name.starts_with("response_")), "{metrics:?}");
        assert!(metrics.has(metric::SERVICE_NS_P50) && metrics.has(metric::SERVICE_NS_MAX));
    }

    #[test]
    fn times_come_from_the_intervals_that_count() {
        let mut valid = summary(1_000, 1_000);
        valid.response.p99_ns = 77;
        let invalid_intervals = InvalidIntervals {
            intervals: 1,
            of_intervals: 2,
            causes: Vec::new(),
            valid_ns: Nanos::SECOND,
            valid: [(OpKind::Get, valid)].into(),
            within_limit: None,
        };
        let step = StepRecord { invalid_intervals: Some(invalid_intervals), ..reads(100_000) };
        assert_eq!(response_time(&step, Percentile::P99), Time::Known { ns: Nanos(77) });
        let few = Time::TooFew { needed: 10_000, counted: 1_000 };
        assert_eq!(response_time(&step, Percentile::P999), few);
    }
}
