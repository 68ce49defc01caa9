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

/// Adds `count` values to a histogram; those it cannot reach go to its last bucket.
pub(crate) fn record_capped(histogram: &mut Histogram<u64>, value_ns: u64, count: u64) {
    let value_ns = value_ns.min(LONGEST_NS);
    histogram.record_n(value_ns, count).expect("it is in range");
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

/// Adds every kind of `from` to `into`.
pub(crate) fn merge(into: &mut GroupTally, from: &GroupTally) {
    for (kind, tally) in from.iter().filter(|(_, tally)| tally.counts != OpCounts::default()) {
        into.entry(*kind).or_default().merge(tally);
    }
}

/// Adds arrivals that were not served, by their ages, to the response times of the kind of
/// operation with the most operations: `fallback` when there was none.
pub(crate) fn censor(group: &mut GroupTally, fallback: Option<OpKind>, ages: &Histogram<u64>) {
    let most = group.iter().max_by_key(|(_, tally)| tally.counts.done).map(|(kind, _)| *kind);
    if let (Some(kind), false) = (most.or(fallback), ages.is_empty()) {
        let tally = group.entry(kind).or_default();
        tally.response.add(ages).expect("all tallies have one layout");
    }
}

/// Empties every kind; kinds and memory stay.
pub(crate) fn reset(group: &mut GroupTally) {
    for tally in group.values_mut() {
        tally.counts = OpCounts::default();
        tally.response.reset();
        tally.service.reset();
    }
}

#[cfg(test)]
mod tests {
    use model::operation::Outcome;
    use model::record::FailureClass;
    use proptest::prelude::*;

    use super::super::client::{ClientTally, Times};
    use super::super::sum::GroupSum;
    use super::*;

    /// Adds what a client has counted.
    fn absorb(group: &mut GroupTally, client: &mut ClientTally) {
        let mut sum = GroupSum::default();
        client.move_to(&mut sum);
        sum.add_to(group);
    }

    fn record(client: &mut ClientTally, service_ns: u64, response_ns: u64) {
        let times = Times { service_ns, response_ns };
        client.record(OpKind::Get, Outcome::Done, times, (1, 3));
    }

    /// Times of every magnitude, with a wait before some of them.
    fn times() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let one = (0u64..LONGEST_NS, 0u32..42, 0u64..1_000_000, any::<bool>());
        let one = one.prop_map(|(ns, shift, wait, is_late)| {
            let service = ns >> shift;
            (service, service + if is_late { wait } else { 0 })
        });
        prop::collection::vec(one, 1..300)
    }

    fn tally_of(times: &[(u64, u64)]) -> GroupTally {
        let mut client = ClientTally::new([OpKind::Get]);
        for (service, response) in times {
            record(&mut client, *service, *response);
        }
        let mut group = GroupTally::new();
        absorb(&mut group, &mut client);
        group
    }

    fn same(a: &GroupTally, b: &GroupTally) -> bool {
        a.len() == b.len()
            && a.iter().zip(b).all(|((kind, a), (other, b))| {
                kind == other
                    && a.counts == b.counts
                    && a.response == b.response
                    && a.service == b.service
            })
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn quantiles_are_those_of_the_standard_histogram(times in times()) {
            // Goal: our counting differs from recording each value in an hdrhistogram by less
            // than its resolution (a merge knows the bucket, not the value).
            let tally = tally_of(&times).remove(&OpKind::Get).unwrap();
            let mut service = KindTally::default().service;
            let mut response = service.clone();
            for (s, r) in &times {
                service.record(*s).unwrap();
                response.record(*r).unwrap();
            }
            for quantile in [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
                for (ours, standard) in [(&tally.service, &service), (&tally.response, &response)] {
                    let ours = ours.value_at_quantile(quantile);
                    let standard = standard.value_at_quantile(quantile);
                    prop_assert!(tally.service.equivalent(ours, standard), "{ours} {standard}");
                }
            }
        }

        #[test]
        fn no_operation_is_lost_or_invented(times in times()) {
            let tally = tally_of(&times).remove(&OpKind::Get).unwrap();
            let count = times.len() as u64;
            prop_assert_eq!(tally.counts.done, count);
            prop_assert_eq!(tally.counts.bytes, 3 * count);
            prop_assert_eq!(tally.service.len(), count);
            prop_assert_eq!(tally.response.len(), count);
        }

        #[test]
        fn merge_is_associative(a in times(), b in times(), c in times()) {
            let (a, b, c) = (tally_of(&a), tally_of(&b), tally_of(&c));
            let mut left = a.clone();
            merge(&mut left, &b);
            merge(&mut left, &c);
            let mut tail = b;
            merge(&mut tail, &c);
            let mut right = a;
            merge(&mut right, &tail);
            prop_assert!(same(&left, &right));
        }
    }

    #[test]
    fn a_failed_operation_is_in_no_histogram() {
        let mut client = ClientTally::default();
        client.record_failure(OpKind::Put, FailureClass::Deadlock);
        client.record_verified(OpKind::Get, 2);
        let mut group = GroupTally::new();
        absorb(&mut group, &mut client);
        let puts = &group[&OpKind::Put];
        assert_eq!((puts.counts.failed, puts.counts.done, puts.service.len()), (1, 0, 0));
        assert_eq!(puts.counts.failures.of(FailureClass::Deadlock), 1);
        assert_eq!(group[&OpKind::Get].counts.verified, 2);
    }

    #[test]
    fn a_time_out_of_range_is_counted_in_the_last_bucket() {
        let mut client = ClientTally::new([OpKind::Get]);
        record(&mut client, 5, 2 * LONGEST_NS);
        record(&mut client, u64::MAX, u64::MAX);
        let mut group = GroupTally::new();
        absorb(&mut group, &mut client);
        let gets = &group[&OpKind::Get];
        assert_eq!((gets.counts.done, gets.response.len(), gets.service.len()), (2, 2, 2));
        assert!(gets.response.max() >= LONGEST_NS);
        // Nothing is left in the tally.
        let mut empty = GroupTally::new();
        absorb(&mut empty, &mut client);
        assert_eq!(empty[&OpKind::Get].counts, OpCounts::default());
    }

    /// Goal: hundreds of clients take no memory that an engine's would be mistaken for.
    /// Method: times of 14 powers of two, as a crowd on few CPUs has them: cached reads, page
    /// faults, and waits for a turn. In an open loop with as many clients each has few operations.
    #[test]
    fn a_client_takes_less_than_100_kb() {
        for (mut client, operations) in [
            (ClientTally::new([OpKind::Get]), 14_000_u64),
            (ClientTally::new([OpKind::Get]).with_lags(), 16),
        ] {
            for _ in 0..3 {
                for number in 0..operations {
                    let shift = 8 + number % 14;
                    let service_ns = (1 << shift) + (number << shift) / operations;
                    let wait = if operations == 16 { 900 << shift } else { 0 };
                    record(&mut client, service_ns, service_ns + wait);
                    client.record_lag(wait / 4);
                }
                assert!(client.bytes() < 100_000, "{} B", client.bytes());
                let mut group = GroupTally::new();
                absorb(&mut group, &mut client);
                assert_eq!(group[&OpKind::Get].counts.done, operations);
            }
        }
        let mut fast = ClientTally::new([OpKind::Get]);
        record(&mut fast, 900, 900);
        assert!(fast.bytes() < 10_000, "{} B", fast.bytes());
    }

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
