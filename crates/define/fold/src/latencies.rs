//! Counts, percentiles and buckets of tallies, as records store them.

use hdrhistogram::Histogram;
use model::buckets::BUCKETS;
use model::record::{OpSummaries, OpSummary};
use model::{Buckets, Nanos, OpKind};

use crate::tally::{GroupTally, KindTally, percentiles};

/// Returns counts and percentiles by kind.
pub fn summaries(group: &GroupTally) -> OpSummaries {
    let one = |(kind, tally): (&OpKind, &KindTally)| {
        let response = percentiles(&tally.response);
        let service = percentiles(&tally.service);
        (*kind, OpSummary { counts: tally.counts, response, service })
    };
    group.iter().map(one).collect()
}

/// Adds a group's service times to the ten buckets of each kind, to their resolution of 0.1 %.
fn add_to_buckets(buckets: &mut Buckets, group: &GroupTally, bounds: &[Nanos; BUCKETS - 1]) {
    for (kind, tally) in group {
        let own = buckets.entry(*kind).or_default();
        let mut before = 0;
        let counts = bounds.iter().map(|bound| count_within(&tally.service, *bound));
        for (bucket, within) in own.iter_mut().zip(counts.chain([tally.service.len()])) {
            *bucket += within.saturating_sub(before);
            before = within;
        }
    }
}

/// Returns the service times of clients and background writers in the buckets of these bounds.
pub fn buckets(groups: [&GroupTally; 2], bounds: &[Nanos; BUCKETS - 1]) -> Buckets {
    let mut buckets = Buckets::new();
    groups.into_iter().for_each(|group| add_to_buckets(&mut buckets, group, bounds));
    buckets
}

/// Returns the operations whose response time is within a limit, all kinds together.
pub fn within_limit(group: &GroupTally, limit: Nanos) -> u64 {
    group.values().map(|tally| count_within(&tally.response, limit)).sum()
}

/// Returns how many values of a histogram are `limit` or less, to its resolution of 0.1 %.
pub fn count_within(histogram: &Histogram<u64>, limit: Nanos) -> u64 {
    histogram.count_between(0, limit.0)
}

#[cfg(test)]
mod tests {
    use model::buckets::{BUCKET_BOUNDS, FINE_BOUNDS};

    use super::*;

    #[test]
    fn service_times_fall_into_the_bucket_whose_bound_they_reach() {
        let mut tally = KindTally::default();
        for (ns, count) in [(100_000, 3), (256_000, 1), (300_000, 2), (20_000_000_000, 4)] {
            tally.service.record_n(ns, count).unwrap();
        }
        let group = [(OpKind::Insert, tally)].into();
        let of = |bounds| buckets([&group, &group], bounds)[&OpKind::Insert];
        assert_eq!(of(&BUCKET_BOUNDS), [8, 4, 0, 0, 0, 0, 0, 0, 0, 8]);
        assert_eq!(of(&FINE_BOUNDS), [0, 0, 0, 0, 0, 0, 6, 6, 0, 8]);
    }
}
