//! Counters of the common layout, allocated range by range.

use std::mem;
use std::ops::AddAssign;

use hdrhistogram::Histogram;

use super::layout::{BUCKETS, RANGE, value_of};

/// Counters by bucket; each eighth of a power of two is allocated at its first count.
///
/// Times of one kind of operation mostly fill a few of the 264 ranges.
#[derive(Debug, Default)]
pub(crate) struct Ranges<T> {
    /// Up to the highest range that has had a count.
    ranges: Vec<Option<Box<[T; RANGE]>>>,
}

impl<T: Copy + Default + PartialEq + AddAssign> Ranges<T> {
    /// Adds to a bucket; values beyond the range, 73 min, go to the last one.
    #[inline(always)]
    pub(super) fn add(&mut self, index: usize, amount: T) {
        match self.ranges.get_mut(index / RANGE) {
            Some(Some(counters)) => counters[index % RANGE] += amount,
            Some(None) | None => self.add_first(index, amount),
        }
    }

    /// Adds to a bucket of a range without counts, apart: other counts then save no registers.
    #[cold]
    #[inline(never)]
    fn add_first(&mut self, index: usize, amount: T) {
        let index = index.min(BUCKETS - 1);
        let (range, place) = (index / RANGE, index % RANGE);
        if self.ranges.len() <= range {
            self.ranges.resize_with(range + 1, || None);
        }
        let counters = self.ranges[range].get_or_insert_with(|| Box::new([T::default(); RANGE]));
        counters[place] += amount;
    }

    /// Calls `each` for every bucket that is not empty, in order.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, T)) {
        for (range, counters) in self.ranges.iter().enumerate() {
            for (place, count) in counters.iter().flat_map(|counters| counters.iter().enumerate()) {
                if *count != T::default() {
                    each(range * RANGE + place, *count);
                }
            }
        }
    }

    /// Empties every bucket, after a call of `each` for those that are not empty.
    ///
    /// Ranges that were empty are freed: the memory is that of the ranges in use.
    pub(super) fn take(&mut self, mut each: impl FnMut(usize, T)) {
        for (range, slot) in self.ranges.iter_mut().enumerate() {
            let Some(counters) = slot else { continue };
            let mut is_used = false;
            for (place, count) in counters.iter_mut().enumerate() {
                if *count != T::default() {
                    each(range * RANGE + place, mem::take(count));
                    is_used = true;
                }
            }
            if !is_used {
                *slot = None;
            }
        }
    }

    /// Returns the bytes of the ranges that are allocated.
    pub(crate) fn bytes(&self) -> u64 {
        (self.ranges.iter().flatten().count() * size_of::<[T; RANGE]>()) as u64
    }
}

impl Ranges<u64> {
    /// Adds all counters of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        other.for_each(|index, count| self.add(index, count));
    }

    /// Adds the counters to a histogram of the common layout.
    pub(crate) fn add_to(&self, histogram: &mut Histogram<u64>) {
        self.for_each(|index, count| {
            let recorded = histogram.record_n(value_of(index), count);
            recorded.expect("both sides have one layout");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::index_of;
    use super::*;

    fn of(ranges: &Ranges<u32>) -> Vec<(usize, u32)> {
        let mut all = Vec::new();
        ranges.for_each(|index, count| all.push((index, count)));
        all
    }

    #[test]
    fn a_range_is_allocated_at_its_first_count_and_freed_when_it_has_none() {
        let mut ranges = Ranges::<u32>::default();
        assert_eq!((ranges.bytes(), of(&ranges)), (0, vec![]));
        let slow = index_of(3_000_000_000);
        for index in [7, slow, 7, usize::MAX] {
            ranges.add(index, 1);
        }
        let counts = vec![(7, 2), (slow, 1), (BUCKETS - 1, 1)];
        assert_eq!((ranges.bytes(), of(&ranges)), (3 * 512, counts.clone()));
        let mut taken = Vec::new();
        ranges.take(|index, count| taken.push((index, count)));
        assert_eq!((taken, of(&ranges)), (counts, vec![]));
        // In the next interval only one of the three is used.
        ranges.add(7, 5);
        ranges.take(|_, _| {});
        assert_eq!(ranges.bytes(), 512);
    }
}
