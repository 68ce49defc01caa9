//! Conservation of operations: intervals, histograms and step report agree.
//!
//! Over a measured span, for each kind of operation and each group, clients and writers:
//!
//! - a step's counts are the sums of its measured intervals' counts: invalid intervals are
//!   included, those of the warm-up are not;
//! - a histogram of an interval has one value per operation done; a failed one has no time;
//! - a step's service times are its operations done, and its response times are those and one
//!   for each arrival not served.
//!
//! A settle has no operations. The step of a search has those of the probe that confirmed the
//! result, or none.

use std::collections::BTreeMap;

use load::{GroupTally, KindTally};
use model::OpKind;
use model::record::OpCounts;

/// The operations of a span's measured intervals.
#[derive(Debug, Default)]
pub(super) struct MeasuredOps {
    clients: BTreeMap<OpKind, OpCounts>,
    writers: BTreeMap<OpKind, OpCounts>,
}

impl MeasuredOps {
    /// Adds a measured interval.
    pub(super) fn add(&mut self, clients: &GroupTally, writers: &GroupTally) {
        for (sum, group) in [(&mut self.clients, clients), (&mut self.writers, writers)] {
            for (kind, tally) in group {
                sum.entry(*kind).or_default().merge(&tally.counts);
            }
        }
    }

    /// Checks that a step has exactly the operations of its intervals.
    ///
    /// `censored` are the arrivals of clients that were not served.
    ///
    /// # Errors
    /// A text that names the first kind of operation that differs, with both numbers.
    pub(super) fn check(
        &self,
        (clients, writers): (&GroupTally, &GroupTally),
        censored: u64,
    ) -> Result<(), String> {
        let groups = [("", &self.clients, clients), ("writers' ", &self.writers, writers)];
        for (whose, sum, group) in groups {
            check_service_times(whose, group)?;
            for kind in OpKind::ALL {
                let in_intervals = sum.get(&kind).copied().unwrap_or_default();
                let in_step = group.get(&kind).map(|tally| tally.counts).unwrap_or_default();
                if in_intervals != in_step {
                    return Err(format!(
                        "the step's {whose}{kind} operations are not those of its intervals: {} \
                         done and {} failed in the step, {} and {} in its intervals",
                        in_step.done, in_step.failed, in_intervals.done, in_intervals.failed
                    ));
                }
            }
        }
        check_response_times("", clients, censored)?;
        check_response_times("writers' ", writers, 0)
    }
}

/// Checks that an interval's histograms have its operations.
///
/// # Errors
/// A text with both numbers.
pub(super) fn check_interval(clients: &GroupTally, writers: &GroupTally) -> Result<(), String> {
    for (whose, group) in [("", clients), ("writers' ", writers)] {
        check_service_times(whose, group)?;
        check_response_times(whose, group, 0)?;
    }
    Ok(())
}

fn check_service_times(whose: &str, group: &GroupTally) -> Result<(), String> {
    for (kind, KindTally { counts, service, .. }) in group {
        if service.len() != counts.done {
            let (times, done) = (service.len(), counts.done);
            return Err(format!("{times} {whose}{kind} service times of {done} operations done"));
        }
    }
    Ok(())
}

/// Checks all kinds together: arrivals that were not served have none of their own.
fn check_response_times(whose: &str, group: &GroupTally, censored: u64) -> Result<(), String> {
    let times: u64 = group.values().map(|tally| tally.response.len()).sum();
    let done: u64 = group.values().map(|tally| tally.counts.done).sum();
    if times == done + censored {
        return Ok(());
    }
    Err(format!(
        "{times} {whose}response times of {done} operations done and {censored} arrivals not served"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gets(done: u64, failed: u64) -> GroupTally {
        let mut tally = KindTally::default();
        tally.response.record_n(9_000, done).unwrap();
        tally.service.record_n(5_000, done).unwrap();
        (tally.counts.done, tally.counts.failed) = (done, failed);
        [(OpKind::Get, tally)].into()
    }

    /// The sum of two intervals: 12 done and 1 failed by clients, 4 done by writers.
    fn measured() -> MeasuredOps {
        let mut measured = MeasuredOps::default();
        measured.add(&gets(7, 1), &gets(4, 0));
        measured.add(&gets(5, 0), &GroupTally::new());
        measured
    }

    #[test]
    fn a_step_has_the_operations_of_its_intervals() {
        assert_eq!(measured().check((&gets(12, 1), &gets(4, 0)), 0), Ok(()));
        // A kind that was announced and never used.
        let mut clients = gets(12, 1);
        clients.insert(OpKind::Put, KindTally::default());
        assert_eq!(measured().check((&clients, &gets(4, 0)), 0), Ok(()));
        assert_eq!(MeasuredOps::default().check((&gets(0, 0), &GroupTally::new()), 0), Ok(()));
    }

    #[test]
    fn an_operation_more_or_less_is_an_error() {
        for (clients, writers, place) in [
            (
                gets(13, 1),
                gets(4, 0),
                "13 done and 1 failed in the step, 12 and 1 in its intervals",
            ),
            (gets(11, 1), gets(4, 0), "the step's get operations"),
            (gets(12, 0), gets(4, 0), "the step's get operations"),
            (GroupTally::new(), gets(4, 0), "the step's get operations"),
            (gets(12, 1), gets(3, 0), "the step's writers' get operations"),
            (gets(12, 1), GroupTally::new(), "the step's writers' get operations"),
        ] {
            let error = measured().check((&clients, &writers), 0).unwrap_err();
            assert!(error.contains(place), "{error}");
        }
        let mut rows = gets(12, 1);
        rows.get_mut(&OpKind::Get).unwrap().counts.rows = 1;
        assert!(measured().check((&rows, &gets(4, 0)), 0).is_err());
    }

    #[test]
    fn arrivals_not_served_have_response_times_and_nothing_else() {
        let mut clients = gets(12, 1);
        let get = clients.get_mut(&OpKind::Get).unwrap();
        get.response.record_n(1_000_000, 3).unwrap();
        let writers = gets(4, 0);
        assert_eq!(measured().check((&clients, &writers), 3), Ok(()));
        let error = measured().check((&clients, &writers), 2).unwrap_err();
        assert_eq!(error, "15 response times of 12 operations done and 2 arrivals not served");
        assert!(check_interval(&clients, &writers).is_err(), "an interval counts what ended");
    }

    #[test]
    fn a_histogram_has_one_value_per_operation_done() {
        assert_eq!(check_interval(&gets(7, 2), &gets(1, 0)), Ok(()));
        let mut short = gets(7, 2);
        short.get_mut(&OpKind::Get).unwrap().counts.done = 8;
        for (clients, writers) in [(&short, &gets(1, 0)), (&gets(1, 0), &short)] {
            let error = check_interval(clients, writers).unwrap_err();
            assert!(error.ends_with("get service times of 8 operations done"), "{error}");
        }
    }
}
