//! Conservation of operations: intervals, histograms and the worker's counts agree.
//!
//! Over a measured span, for each kind of operation and each group, clients and writers:
//!
//! - a step's counts are the sums of its measured intervals' counts: invalid intervals are
//!   included, those of the warm-up are not;
//! - a histogram of an interval has one value per operation done; a failed one has no time.
//!
//! A settle has no operations. The step of a search has those of the probe that confirmed the
//! result, or none.

use std::collections::BTreeMap;
use std::fmt;

use model::OpKind;
use model::record::OpCounts;
use serde::{Deserialize, Serialize};

use crate::tally::{GroupTally, Groups, KindTally};

/// Operations of a step, as its worker counted them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Of the measured clients, by kind.
    pub clients: BTreeMap<OpKind, OpCounts>,
    /// Of the background writers, by kind.
    pub writers: BTreeMap<OpKind, OpCounts>,
}

/// Which counts differ, with both numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unequal(pub String);

impl fmt::Display for Unequal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unequal {}

impl Counts {
    /// Returns the counts of these operations.
    pub fn of(groups: &Groups) -> Self {
        let counts =
            |group: &GroupTally| group.iter().map(|(kind, tally)| (*kind, tally.counts)).collect();
        Self { clients: counts(&groups.clients), writers: counts(&groups.writers) }
    }

    /// Checks that a step has exactly the operations of its intervals.
    pub(crate) fn check(&self, in_intervals: &Groups) -> Result<(), Unequal> {
        let intervals = Self::of(in_intervals);
        for (whose, step, intervals) in [
            ("", &self.clients, &intervals.clients),
            ("writers' ", &self.writers, &intervals.writers),
        ] {
            for kind in OpKind::ALL {
                let of = |counts: &BTreeMap<OpKind, OpCounts>| {
                    counts.get(&kind).copied().unwrap_or_default()
                };
                let (step, intervals) = (of(step), of(intervals));
                if step != intervals {
                    return Err(Unequal(format!(
                        "the step's {whose}{kind} operations differ from the sum of its intervals: \
                         {} done and {} failed in the step, {} and {} in its intervals",
                        step.done, step.failed, intervals.done, intervals.failed
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Checks that an interval's histograms have its operations, in a warm-up too.
///
/// # Errors
/// The first kind whose numbers differ.
pub fn check_interval(groups: &Groups) -> Result<(), Unequal> {
    for (whose, group) in [("", &groups.clients), ("writers' ", &groups.writers)] {
        for (kind, KindTally { counts: OpCounts { done, .. }, response, service }) in group {
            for (which, times) in [("service", service.len()), ("response", response.len())] {
                if times != *done {
                    return Err(Unequal(format!(
                        "{times} {whose}{kind} {which} times of {done} operations done"
                    )));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gets(done: u64, failed: u64) -> GroupTally {
        let mut group = crate::testing::gets(done, 5_000);
        group.entry(OpKind::Get).or_default().counts.failed = failed;
        group
    }

    /// 12 done and 1 failed by clients, 4 done by writers.
    fn measured() -> Groups {
        Groups { clients: gets(12, 1), writers: gets(4, 0) }
    }

    fn check(clients: GroupTally, writers: GroupTally) -> Result<(), Unequal> {
        Counts::of(&Groups { clients, writers }).check(&measured())
    }

    #[test]
    fn a_step_has_the_operations_of_its_intervals() {
        assert_eq!(check(gets(12, 1), gets(4, 0)), Ok(()));
        // A kind that was announced and never used.
        let mut clients = gets(12, 1);
        clients.insert(OpKind::Put, KindTally::default());
        assert_eq!(check(clients, gets(4, 0)), Ok(()));
        assert_eq!(Counts::default().check(&Groups::default()), Ok(()));
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
            let Unequal(reason) = check(clients, writers).unwrap_err();
            assert!(reason.contains(place), "{reason}");
        }
        let mut rows = gets(12, 1);
        rows.get_mut(&OpKind::Get).unwrap().counts.rows = 1;
        assert!(check(rows, gets(4, 0)).is_err());
    }

    #[test]
    fn a_histogram_has_one_value_per_operation_done() {
        assert_eq!(check_interval(&measured()), Ok(()));
        let mut short = gets(7, 2);
        short.get_mut(&OpKind::Get).unwrap().counts.done = 8;
        let more = |group: &GroupTally| Groups { clients: group.clone(), ..Groups::default() };
        let Unequal(reason) = check_interval(&more(&short)).unwrap_err();
        assert_eq!(reason, "7 get service times of 8 operations done");
        let mut waiting = gets(7, 2);
        waiting.get_mut(&OpKind::Get).unwrap().response.record(9).unwrap();
        let writers = Groups { writers: waiting, ..Groups::default() };
        let Unequal(reason) = check_interval(&writers).unwrap_err();
        assert_eq!(reason, "8 writers' get response times of 7 operations done");
    }
}
