//! Facts of a step: what its record has and no interval does.

use hdrhistogram::Histogram;
use model::validity::Calibration;
use model::{IntervalRecord, Kind, Nanos, OpKind, Readings, StepRecord, metric, whole};

use crate::conservation::Counts;

/// What is known of a step besides its intervals.
#[derive(Debug, Default)]
pub struct Facts<'a> {
    /// The record; what is folded replaces what it has.
    pub known: StepRecord,
    /// The worker's counts, which the intervals must have.
    pub counts: Option<Counts>,
    /// Arrivals not served at the end of an open loop.
    pub censored: Option<Censored>,
    /// The client's cost and capacity on this host.
    pub calibration: Option<&'a Calibration>,
}

/// Arrivals that an open loop had not served at its end.
#[derive(Debug, Clone)]
pub struct Censored {
    /// Kind that they are counted under where nothing was done.
    pub kind: Option<OpKind>,
    /// Their ages, ns.
    pub ages: Histogram<u64>,
}

impl Facts<'_> {
    /// Removes the intervals of a trimmed warm-up from the facts.
    ///
    /// A counter that is not known in each of them is absent afterwards. The engine's state before
    /// the step, its beginning, profiles, procedures and findings stay those of the whole step.
    #[must_use]
    pub fn without(mut self, left_out: &[&IntervalRecord], trim: Nanos) -> Self {
        let known = &mut self.known;
        known.warmup_trim_ns = Some(trim);
        known.duration_ns = known.duration_ns.since(trim);
        known.counters = less(&known.counters, left_out);
        if let Some(arrivals) = &mut known.arrivals {
            arrivals.offered = arrivals.offered.saturating_sub(offered(left_out));
        }
        self
    }
}

/// Returns the counters' growth outside of the intervals left out.
fn less(whole: &Readings, left_out: &[&IntervalRecord]) -> Readings {
    let rest = |(name, value): (&String, &f64)| {
        let before: Option<f64> =
            left_out.iter().map(|interval| interval.readings.get(name).copied()).sum();
        Some((name.clone(), (value - before?).max(0.0)))
    };
    whole.of_kind(Kind::Counter).filter_map(rest).collect()
}

/// Returns the arrivals due in some intervals.
fn offered(intervals: &[&IntervalRecord]) -> u64 {
    let due = intervals.iter().filter_map(|interval| interval.readings.value(metric::OFFERED_OPS));
    whole(due.sum::<f64>().round())
}
