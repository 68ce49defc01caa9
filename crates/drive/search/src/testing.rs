//! Simulated probe observations, for the tests.

#![expect(clippy::cast_possible_truncation, reason = "counts of examples are small")]
#![expect(clippy::cast_sign_loss, reason = "rates are not negative")]

use model::record::Percentiles;
use model::{Limit, Metric, Nanos};

use crate::probe::{Probe, ProbeLoad, ProbeObservation, Second};

/// 99 % within 2 ms: 10 000 operations are needed.
pub(crate) const LIMIT: Limit = Limit { share: 0.99, within: Nanos::from_millis(2) };

/// Returns a probe of `seconds`, each with `ended` operations, `late` of them late.
pub(crate) fn observation(seconds: usize, ended: u64, late: u64) -> ProbeObservation {
    let second = Second { length: Nanos::SECOND, ended, late, ..Second::default() };
    ProbeObservation {
        seconds: vec![second; seconds],
        censored_late: 0,
        censored: 0,
        response: Percentiles::default(),
        service: Percentiles::default(),
        duration: Nanos::from_secs(seconds as u64),
        settle_time: Nanos(0),
        debt_bytes: None,
        stop: None,
    }
}

/// Returns the probe with a gauge; `value` is a function of the second.
pub(crate) fn with_gauge(
    mut observation: ProbeObservation,
    metric: Metric,
    value: impl Fn(f64) -> f64,
) -> ProbeObservation {
    for (at, second) in (0_u32..).zip(&mut observation.seconds) {
        second.readings.set(metric, value(f64::from(at)));
    }
    observation
}

/// Returns the probe with its first intervals invalid.
pub(crate) fn with_invalid(
    mut observation: ProbeObservation,
    intervals: usize,
) -> ProbeObservation {
    observation.seconds.iter_mut().take(intervals).for_each(|second| second.is_invalid = true);
    observation
}

/// Returns the observation of an engine that serves at most `most_ops_per_s` in time.
pub(crate) fn simulate(probe: &Probe, most_ops_per_s: f64) -> ProbeObservation {
    let seconds = (probe.measure.0 / Nanos::SECOND.0) as usize;
    match probe.load {
        ProbeLoad::Rate { ops_per_s } if ops_per_s > most_ops_per_s => {
            let ended = ops_per_s as u64;
            observation(seconds, ended, ended / 10)
        }
        ProbeLoad::Rate { ops_per_s } => observation(seconds, ops_per_s as u64, 0),
        ProbeLoad::Closed { .. } => observation(seconds, most_ops_per_s as u64, 0),
    }
}
