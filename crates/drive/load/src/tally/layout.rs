//! The layout of the histograms: which bucket a value belongs to.
//!
//! Source: [Tene 2012], `countsArrayIndex` and `valueFromIndex`, for values from 1 ns to 1 h with
//! 3 significant digits. The crate's own computation is private and repeated for each histogram;
//! here it is done once for both.

/// Linear buckets of the first power-of-two range: the least power of two above 2 x 10^3.
const SUB_BUCKETS: u64 = 2048;
const HALF: u64 = SUB_BUCKETS / 2;
const HALF_BITS: u32 = HALF.trailing_zeros();
/// Power-of-two ranges that together reach an hour.
const RANGES: u64 = 32;

/// Values from 0 on that are buckets of their own, each its own position.
#[expect(clippy::cast_possible_truncation, reason = "2,048")]
pub(super) const LINEAR: usize = SUB_BUCKETS as usize;
/// Buckets that are allocated together: an eighth of a power of two.
#[expect(clippy::cast_possible_truncation, reason = "128")]
pub(super) const RANGE: usize = HALF as usize / 8;
/// Buckets of one histogram.
#[expect(clippy::cast_possible_truncation, reason = "33,792")]
pub(super) const BUCKETS: usize = ((RANGES + 1) * HALF) as usize;

/// Returns the bucket of `value_ns`; at least [`BUCKETS`] when the value is out of range.
///
/// Five instructions, no branch.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 56 x 1024, on a 64-bit machine")]
pub(super) const fn index_of(value_ns: u64) -> usize {
    let shift = (value_ns | (SUB_BUCKETS - 1)).ilog2() - HALF_BITS;
    (((shift as u64) << HALF_BITS) + (value_ns >> shift)) as usize
}

/// Returns the smallest value of a bucket.
pub(super) const fn value_of(index: usize) -> u64 {
    let index = index as u64;
    if index < SUB_BUCKETS {
        return index;
    }
    let shift = (index >> HALF_BITS) - 1;
    ((index & (HALF - 1)) + HALF) << shift
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use model::histogram::{DIGITS, LONGEST_NS};
    use proptest::prelude::*;

    use super::*;

    fn standard() -> Histogram<u64> {
        Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).unwrap()
    }

    #[test]
    fn the_layout_is_the_standard_ones_to_its_last_bucket() {
        let standard = standard();
        assert_eq!(standard.distinct_values(), BUCKETS);
        for index in 0..BUCKETS {
            let value = value_of(index);
            assert_eq!(index_of(value), index);
            assert_eq!(standard.lowest_equivalent(value), value);
            assert_eq!(index_of(standard.highest_equivalent(value)), index);
        }
        assert!(index_of(LONGEST_NS) < BUCKETS);
        assert_eq!(index_of((SUB_BUCKETS << (RANGES - 1)) - 1), BUCKETS - 1);
        assert!(index_of(SUB_BUCKETS << (RANGES - 1)) >= BUCKETS);
        assert!(index_of(u64::MAX) >= BUCKETS);
    }

    proptest! {
        #[test]
        fn values_share_a_bucket_exactly_as_in_the_standard_histogram(
            value in 0..LONGEST_NS, bits in 0u32..42, other in 0..LONGEST_NS,
        ) {
            let standard = standard();
            let value = value >> bits;
            let near = value + 1;
            for other in [near, other] {
                prop_assert_eq!(
                    index_of(value) == index_of(other),
                    standard.equivalent(value, other)
                );
            }
        }
    }
}
