//! Counts and times of a group of clients.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::OpKind;
use model::histogram::{DIGITS, LONGEST_NS};
use model::record::{OpCounts, Percentiles};

/// Counts and times of one kind of operation.
#[derive(Debug, Clone)]
pub struct KindTally {
    /// Counts.
    pub counts: OpCounts,
    /// Ended - intended, ns, of the operations that were done.
    ///
    /// In an open loop's totals also the ages of the arrivals not served: the least that their
    /// response times can have been.
    pub response: Histogram<u64>,
    /// Ended - started, ns, of the operations that were done.
    pub service: Histogram<u64>,
}

/// Counts and times by kind of operation.
pub type GroupTally = BTreeMap<OpKind, KindTally>;

/// Operations of measured clients and background writers.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// The measured clients.
    pub clients: GroupTally,
    /// The background writers.
    pub writers: GroupTally,
}

/// Returns an empty histogram of nanoseconds in the common layout.
#[expect(clippy::missing_panics_doc, reason = "the bounds are constants that are tested")]
pub fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are constants")
}

/// Returns the percentiles of a histogram, ns; all zero when empty.
///
/// The percentile p of n operations is the time of rank p n, rounded up: the least time within
/// which at least that share of the operations stayed. Each is the highest value of its bucket: at
/// most 0.1 % above the operation it stands for. Ports in C and Python round p n to the nearest
/// rank, which is one lower where its fraction is below a half.
///
/// Source: [HdrHistogram source].
pub fn percentiles(histogram: &Histogram<u64>) -> Percentiles {
    Percentiles {
        count: histogram.len(),
        mean_ns: if histogram.is_empty() { 0.0 } else { histogram.mean() },
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p99_ns: histogram.value_at_quantile(0.99),
        p999_ns: histogram.value_at_quantile(0.999),
        p9999_ns: histogram.value_at_quantile(0.9999),
        max_ns: histogram.max(),
    }
}

impl Default for KindTally {
    fn default() -> Self {
        let (response, service) = (empty_histogram(), empty_histogram());
        Self { counts: OpCounts::default(), response, service }
    }
}

impl KindTally {
    /// Adds `other` to this tally.
    ///
    /// # Panics
    /// When a histogram was replaced by one of another layout.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        for (ours, theirs) in
            [(&mut self.response, &other.response), (&mut self.service, &other.service)]
        {
            ours.add(theirs).expect("all tallies have one layout");
        }
    }
}

/// Adds every kind of `from` that has operations to `into`.
pub fn merge(into: &mut GroupTally, from: &GroupTally) {
    for (kind, tally) in from.iter().filter(|(_, tally)| tally.counts != OpCounts::default()) {
        into.entry(*kind).or_default().merge(tally);
    }
}

/// Adds the ages of arrivals that were not served to the response times of one kind.
///
/// It is the kind with the most operations: `fallback` when there was none.
///
/// # Panics
/// When the ages have another layout than [`empty_histogram`].
pub fn censor(group: &mut GroupTally, fallback: Option<OpKind>, ages: &Histogram<u64>) {
    let most = group.iter().max_by_key(|(_, tally)| tally.counts.done).map(|(kind, _)| *kind);
    if let (Some(kind), false) = (most.or(fallback), ages.is_empty()) {
        let tally = group.entry(kind).or_default();
        tally.response.add(ages).expect("all tallies have one layout");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks_of_the_operations() {
        let mut histogram = KindTally::default().service;
        assert_eq!(percentiles(&histogram), Percentiles::default());
        for ns in 1..=1000 {
            histogram.record(ns).unwrap();
        }
        let found = percentiles(&histogram);
        assert_eq!((found.count, found.p50_ns, found.p90_ns), (1000, 500, 900));
        assert_eq!((found.p99_ns, found.p999_ns, found.p9999_ns), (990, 999, 1000));
        assert_eq!(found.max_ns, 1000);
        assert!((found.mean_ns - 500.5).abs() < 0.5);
    }

    /// Goal: percentiles are HdrHistogram's own. Method: 1,660 times of 1 to 1,660 ns, each in a
    /// bucket of its own, so that a time is its rank. Version 2.2.2 of the Java library gives the
    /// ranks that are rounded up, version 0.10.8 of the Python library the nearest ranks.
    #[test]
    fn percentile_has_the_rank_that_hdrhistogram_rounds_up() {
        let mut times = empty_histogram();
        (1..=1660).for_each(|time_ns| times.record(time_ns).unwrap());
        let found = percentiles(&times);
        let found = [found.p50_ns, found.p90_ns, found.p99_ns, found.p999_ns, found.p9999_ns];
        let (up, nearest) = ([830, 1494, 1644, 1659, 1660], [830, 1494, 1643, 1658, 1660]);
        assert_eq!(found, up);
        let shares = [0.5, 0.9, 0.99, 0.999, 0.9999];
        assert_eq!(shares.map(|share| model::whole((share * 1660.0_f64).ceil())), up);
        assert_eq!(shares.map(|share| model::whole((share * 1660.0_f64).round())), nearest);
    }
}
