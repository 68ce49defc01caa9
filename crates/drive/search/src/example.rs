//! Probes as an engine could have shown them, for the tests.

#![expect(clippy::cast_possible_truncation, reason = "counts of examples are small")]
#![expect(clippy::cast_sign_loss, reason = "rates are not negative")]

use model::record::Percentiles;
use model::{Limit, Nanos};

use crate::probe::{Probe, ProbeLoad, ProbeObservation, Second};

/// 99 % within 2 ms: 10 000 operations are needed.
pub(crate) const LIMIT: Limit = Limit { share: 0.99, within: Nanos::from_millis(2) };

/// Returns a probe of so many seconds, each with so many operations of which so many were late.
pub(crate) fn seen(seconds: usize, ended: u64, late: u64) -> ProbeObservation {
    let second = Second { length: Nanos::SECOND, ended, late, ..Second::default() };
    ProbeObservation {
        seconds: vec![second; seconds],
        censored_late: 0,
        censored: 0,
        response: Percentiles::default(),
        service: Percentiles::default(),
        duration: Nanos::from_secs(seconds as u64),
        drained: Nanos(0),
        debt_bytes: None,
        stop: None,
    }
}

/// Returns the probe with a gauge; `value` says what it is in each second.
pub(crate) fn with_gauge(
    mut seen: ProbeObservation,
    name: &str,
    value: impl Fn(f64) -> f64,
) -> ProbeObservation {
    for (at, second) in (0_u32..).zip(&mut seen.seconds) {
        second.readings.insert(name.to_owned(), value(f64::from(at)));
    }
    seen
}

/// Returns the probe with its first intervals void.
pub(crate) fn with_voids(mut seen: ProbeObservation, voids: usize) -> ProbeObservation {
    seen.seconds.iter_mut().take(voids).for_each(|second| second.is_invalid = true);
    seen
}

/// Returns what an engine shows in this probe that serves `most_ops_per_s` in time, and no more.
pub(crate) fn answer(probe: &Probe, most_ops_per_s: f64) -> ProbeObservation {
    let seconds = (probe.measure.0 / Nanos::SECOND.0) as usize;
    match probe.load {
        ProbeLoad::Rate { ops_per_s } if ops_per_s > most_ops_per_s => {
            let ended = ops_per_s as u64;
            seen(seconds, ended, ended / 10)
        }
        ProbeLoad::Rate { ops_per_s } => seen(seconds, ops_per_s as u64, 0),
        ProbeLoad::Closed { .. } => seen(seconds, most_ops_per_s as u64, 0),
    }
}
