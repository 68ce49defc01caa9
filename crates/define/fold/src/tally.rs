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

/// Returns an empty histogram of nanoseconds in the common layout.
#[expect(clippy::missing_panics_doc, reason = "the bounds are constants that are tested")]
pub fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are constants")
}

/// Returns the percentiles of a histogram, ns; all zero when empty.
///
/// Each is the highest value of its bucket: at most 0.1 % above the operation it stands for.
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
}
