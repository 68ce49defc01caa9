//! Compares the rows of a store after a crash with what its clients have changed.
//!
//! Of each row the changes are known in order. The rows that are there show which of them the
//! store still has; the later acknowledged ones are lost. A store that preserves the order has, for
//! each client, the state after some number of its changes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use model::{Losses, Nanos};

use crate::history::{History, change_of};

/// The rows of one client by slot.
pub(crate) type Rows = BTreeMap<u64, Vec<u8>>;

/// What one client did before the crash.
pub(crate) struct Acknowledged<'a> {
    /// Its changes.
    pub(crate) history: History,
    /// Times of its acknowledgements, in order; the next change was in flight.
    pub(crate) times: &'a [Nanos],
    /// Time of the crash.
    pub(crate) cut: Nanos,
}

/// A state of one row.
enum State {
    /// It is the state after so many of the client's changes, in one of these ranges.
    After(Vec<RangeInclusive<u64>>),
    Torn,
    NeverWritten,
}

impl Acknowledged<'_> {
    /// Returns what the client's rows lack of its acknowledged changes.
    pub(crate) fn losses(&self, rows: &Rows) -> Losses {
        let acknowledged = self.times.len() as u64;
        let mut changes: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for n in 0..=acknowledged {
            changes.entry(self.history.change(n).slot).or_default().push(n);
        }
        let mut losses = Losses::default();
        let mut prefix = PrefixCount::new(acknowledged + 1);
        let mut oldest = None;
        for (slot, of_row) in &changes {
            let ranges = match self.state(of_row, rows.get(slot)) {
                State::After(ranges) => ranges,
                State::Torn => {
                    losses.torn += 1;
                    let example = || format!("the value of row {slot} is damaged");
                    losses.example.get_or_insert_with(example);
                    continue;
                }
                State::NeverWritten => {
                    losses.never_written += 1;
                    let example = || format!("row {slot} has a value that no client wrote to it");
                    losses.example.get_or_insert_with(example);
                    continue;
                }
            };
            prefix.add(&ranges);
            // The last state that the row may be in: an earlier one would have lost more.
            let had = ranges.last().map_or(0, |range| *range.end());
            let lost: Vec<_> =
                of_row.iter().copied().filter(|n| *n >= had && *n < acknowledged).collect();
            let Some(first) = lost.first() else { continue };
            losses.lost += lost.len() as u64;
            let is_deleted = lost.last().is_some_and(|n| self.history.change(*n).is_delete);
            losses.resurrected += u64::from(is_deleted && rows.contains_key(slot));
            oldest = Some(oldest.map_or(*first, |oldest: u64| oldest.min(*first)));
        }
        let others = rows.keys().filter(|slot| !changes.contains_key(slot)).count();
        losses.never_written += others as u64;
        losses.gaps = u64::from(losses.lost > 0 && !prefix.is_prefix());
        // A lost tail takes deletes like any other change.
        losses.resurrected *= losses.gaps;
        losses.is_everything = rows.is_empty();
        losses.window = oldest
            .and_then(|n| self.times.get(usize::try_from(n).ok()?))
            .map(|at| self.cut.since(*at));
        losses
    }

    /// Returns the state of a row, of which these are the changes in order.
    fn state(&self, changes: &[u64], value: Option<&Vec<u8>>) -> State {
        let next = |n: u64| {
            let later = changes.iter().find(|later| **later > n);
            later.copied().unwrap_or(self.times.len() as u64 + 1)
        };
        let Some(value) = value else {
            let first = changes.first().copied().unwrap_or_default();
            let deletes = changes.iter().filter(|n| self.history.change(**n).is_delete);
            let after = deletes.map(|n| *n + 1..=next(*n));
            return State::After([0..=first].into_iter().chain(after).collect());
        };
        let Some(n) = change_of(value) else { return State::NeverWritten };
        let mut written = Vec::new();
        self.history.write_value(n, &mut written);
        let is_of_row = changes.contains(&n) && !self.history.change(n).is_delete;
        if is_of_row && written == *value {
            return State::After(vec![n + 1..=next(n)]);
        }
        if is_of_row || self.shares_bytes(changes, value) {
            return State::Torn;
        }
        State::NeverWritten
    }

    /// Returns whether a value has the end of one that was written to its row.
    fn shares_bytes(&self, changes: &[u64], value: &[u8]) -> bool {
        let mut written = Vec::new();
        changes.iter().any(|n| {
            self.history.write_value(*n, &mut written);
            let tail = written.len() - written.len() / 4;
            value.get(tail..) == written.get(tail..)
        })
    }
}

/// Counts, for each number of changes, the rows that are as they were after so many.
struct PrefixCount {
    /// Difference to the count of one change fewer.
    differences: Vec<i64>,
    rows: i64,
}

impl PrefixCount {
    fn new(changes: u64) -> Self {
        let length = usize::try_from(changes).unwrap_or(usize::MAX - 2) + 2;
        Self { differences: vec![0; length], rows: 0 }
    }

    fn add(&mut self, ranges: &[RangeInclusive<u64>]) {
        self.rows += 1;
        let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        for range in ranges {
            self.differences[at(*range.start())] += 1;
            self.differences[at(range.end() + 1)] -= 1;
        }
    }

    /// Returns whether all rows are as they were after one number of changes.
    fn is_prefix(&self) -> bool {
        let mut count = 0;
        self.differences.iter().any(|difference| {
            count += difference;
            count == self.rows
        })
    }
}

/// Adds the losses of another client.
pub(crate) fn add(sum: &mut Losses, other: Losses) {
    sum.lost += other.lost;
    sum.window = sum.window.max(other.window);
    sum.gaps += other.gaps;
    sum.torn += other.torn;
    sum.resurrected += other.resurrected;
    sum.never_written += other.never_written;
    sum.is_everything &= other.is_everything;
    sum.example = sum.example.take().or(other.example);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::TEST_DATA;

    /// Returns the rows after so many changes, without those that are skipped.
    fn rows_after(history: &History, changes: u64, skipped: impl Fn(u64) -> bool) -> Rows {
        let mut rows = Rows::new();
        for n in (0..changes).filter(|n| !skipped(*n)) {
            let change = history.change(n);
            let mut value = Vec::new();
            history.write_value(n, &mut value);
            match change.is_delete {
                true => drop(rows.remove(&change.slot)),
                false => drop(rows.insert(change.slot, value)),
            }
        }
        rows
    }

    fn history() -> History {
        History::new(11, 0, &TEST_DATA)
    }

    /// One change was acknowledged each microsecond; the crash is one after the last.
    fn losses(acknowledged: u64, rows: &Rows) -> Losses {
        let times: Vec<_> = (0..acknowledged).map(|n| Nanos(n * 1_000)).collect();
        let cut = Nanos(acknowledged * 1_000);
        Acknowledged { history: history(), times: &times, cut }.losses(rows)
    }

    #[test]
    fn a_change_in_flight_may_be_there_or_not() {
        for had in [500, 501] {
            assert!(losses(500, &rows_after(&history(), had, |_| false)).is_none());
        }
    }

    #[test]
    fn a_lost_tail_is_counted_with_its_window_and_is_no_gap() {
        let found = losses(500, &rows_after(&history(), 480, |_| false));
        // A change that a later one of the row hides cannot be missed, and a delete of no row.
        assert!((10..=20).contains(&found.lost), "{found:?}");
        assert_eq!(found.gaps, 0);
        let window = found.window.unwrap().0;
        assert!((15_000..=20_000).contains(&window), "{window}");
    }

    #[test]
    fn a_change_that_the_one_in_flight_would_hide_is_not_lost() {
        let history = history();
        let hidden = (0..500).filter(|n| {
            let (change, in_flight) = (history.change(*n), history.change(n + 1));
            change.slot == in_flight.slot && in_flight.is_delete
        });
        let hidden: Vec<_> = hidden.collect();
        assert!(!hidden.is_empty());
        for n in hidden {
            let before = rows_after(&history, n, |_| false);
            let is_hidden = before == rows_after(&history, n + 2, |_| false);
            assert_eq!(losses(n + 1, &before).is_none(), is_hidden, "{n}");
        }
    }

    #[test]
    fn a_loss_before_a_change_that_survived_is_a_gap() {
        let found = losses(500, &rows_after(&history(), 500, |n| (470..480).contains(&n)));
        assert!(found.lost > 0 && found.gaps == 1, "{found:?}");
    }

    #[test]
    fn an_empty_store_has_lost_everything() {
        let found = losses(500, &Rows::new());
        assert!(found.is_everything && found.gaps == 0, "{found:?}");
        assert_eq!(found.window, Some(Nanos(500_000)));
    }

    #[test]
    fn a_deleted_row_that_is_there_again_is_counted() {
        let history = history();
        let last = (0..500).rev().find(|n| {
            let slot = history.change(*n).slot;
            let before = rows_after(&history, *n, |_| false);
            history.change(*n).is_delete
                && before.contains_key(&slot)
                && (*n + 1..=500).all(|later| history.change(later).slot != slot)
        });
        let found = losses(500, &rows_after(&history, 500, |n| Some(n) == last));
        assert_eq!((found.lost, found.resurrected, found.gaps), (1, 1, 1));
    }

    #[test]
    fn damaged_and_foreign_values_are_distinguished() {
        let mut rows = rows_after(&history(), 500, |_| false);
        let (torn, foreign) = (*rows.keys().next().unwrap(), *rows.keys().nth(1).unwrap());
        rows.get_mut(&torn).unwrap()[50] ^= 1;
        rows.insert(foreign, vec![9; 100]);
        rows.insert(1 << 40, vec![9; 100]);
        let found = losses(500, &rows);
        assert_eq!((found.torn, found.never_written, found.lost), (1, 2, 0));
        assert!(found.example.is_some() && !found.is_none());
    }

    proptest! {
        /// Goal: whatever prefix is left, the loss is what separates it from the acknowledged
        /// state, and no prefix is a gap.
        #[test]
        fn any_prefix_is_found_to_be_one(acknowledged in 1..300u64, share in 0.0..1.0f64) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let had = (acknowledged as f64 * share) as u64;
            let found = losses(acknowledged, &rows_after(&history(), had, |_| false));
            prop_assert_eq!((found.gaps, found.torn, found.never_written), (0, 0, 0));
            prop_assert!(found.lost <= acknowledged - had);
            // The change in flight may be there too, and hide one that is lost.
            let rows = rows_after(&history(), had, |_| false);
            let has_all = [acknowledged, acknowledged + 1]
                .iter()
                .any(|changes| rows_after(&history(), *changes, |_| false) == rows);
            prop_assert_eq!(found.lost == 0, has_all);
        }
    }
}
