//! Counts and times of a group of clients, in the process of measuring.

use fold::GroupTally;
use hdrhistogram::Histogram;
use model::histogram::LONGEST_NS;
use model::record::OpCounts;

/// Adds `count` values to a histogram; those it cannot reach go to its last bucket.
pub(crate) fn record_capped(histogram: &mut Histogram<u64>, value_ns: u64, count: u64) {
    let value_ns = value_ns.min(LONGEST_NS);
    histogram.record_n(value_ns, count).expect("it is in range");
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
    use fold::{KindTally, merge};
    use model::OpKind;
    use model::operation::Outcome;
    use model::record::FailureClass;
    use proptest::prelude::*;

    use super::super::client::{ClientTally, Times, Volume};
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
        client.record(OpKind::Get, Outcome::Done, times, Volume { rows: 1, bytes: 3 });
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
}
