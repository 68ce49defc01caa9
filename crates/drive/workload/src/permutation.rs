//! A seeded permutation of all row ids in constant memory.
//!
//! A Feistel network permutes the smallest power of two that holds the ids; an image outside
//! `0..rows` is permuted again until it falls inside, which happens after two turns at most on
//! average. Source: [Black Rogaway 2002], sections 4 (cycle walking) and 5 (generalised Feistel).

use crate::random::{Stream, mix};

/// Pairs of rounds. Source: [Luby Rackoff 1988]: four rounds make a pseudorandom permutation; two
/// more because halves of a few bits are far from the theorem's limit.
const ROUND_PAIRS: usize = 3;

/// A bijection on `0..rows`, chosen by a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permutation {
    rows: u64,
    right_bits: u32,
    left_mask: u64,
    right_mask: u64,
    keys: [(u64, u64); ROUND_PAIRS],
}

impl Permutation {
    /// Returns the bijection on `0..rows` that `stream` chooses.
    pub(crate) fn new(rows: u64, stream: Stream) -> Self {
        let bits = u64::BITS - rows.saturating_sub(1).leading_zeros();
        let right_bits = bits.div_ceil(2);
        let mask = |bits: u32| (1u64 << bits) - 1;
        let mut keys = [(0, 0); ROUND_PAIRS];
        for (n, pair) in (0..).zip(&mut keys) {
            *pair = (stream.word(2 * n), stream.word(2 * n + 1));
        }
        Self {
            rows,
            right_bits,
            left_mask: mask(bits - right_bits),
            right_mask: mask(right_bits),
            keys,
        }
    }

    /// Returns the id at place `index` of the order; `index < rows`.
    #[inline]
    pub(crate) fn apply(&self, index: u64) -> u64 {
        debug_assert!(index < self.rows, "place {index} of {} rows", self.rows);
        // The walk follows the cycle of a bijection that contains `index` itself, so it ends.
        let mut id = self.turn(index);
        while id >= self.rows {
            id = self.turn(id);
        }
        id
    }

    /// Permutes the whole power of two once.
    #[inline]
    fn turn(&self, id: u64) -> u64 {
        let mut left = id >> self.right_bits;
        let mut right = id & self.right_mask;
        for (left_key, right_key) in self.keys {
            left ^= mix(right, left_key) & self.left_mask;
            right ^= mix(left, right_key) & self.right_mask;
        }
        left << self.right_bits | right
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn images(rows: u64, seed: u64) -> Vec<u64> {
        let permutation = Permutation::new(rows, Stream::fixed(seed));
        (0..rows).map(|index| permutation.apply(index)).collect()
    }

    fn is_bijection(rows: u64, seed: u64) -> bool {
        let mut images = images(rows, seed);
        images.sort_unstable();
        images.into_iter().eq(0..rows)
    }

    #[test]
    fn every_small_key_space_is_permuted() {
        for rows in 1..=600 {
            assert!(is_bijection(rows, rows ^ 0x5eed), "{rows} rows");
        }
    }

    #[test]
    fn the_largest_key_space_is_walked() {
        let permutation = Permutation::new(u64::MAX, Stream::fixed(1));
        assert!(permutation.apply(u64::MAX - 1) < u64::MAX);
    }

    #[test]
    fn neighbours_are_scattered_evenly() {
        // Goal: hot ranks that are neighbours do not stay neighbours, and no region is favoured.
        // Method: the images of the first 1/16 of the places over 16 equal regions, chi-square
        // with 15 degrees of freedom: 44.3 is exceeded by chance once in 10,000.
        let rows = 1_000_003;
        let permutation = Permutation::new(rows, Stream::fixed(99));
        let places = rows / 16;
        let mut regions = [0u64; 16];
        for index in 0..places {
            regions[usize::try_from(permutation.apply(index) * 16 / rows).unwrap()] += 1;
        }
        let expected = places as f64 / 16.0;
        let square = |count: &u64| (*count as f64 - expected).powi(2) / expected;
        let chi_square: f64 = regions.iter().map(square).sum();
        assert!(chi_square < 44.3, "{chi_square}: {regions:?}");
        let close = |index: &u64| {
            permutation.apply(*index).abs_diff(permutation.apply(index + 1)) < rows / 1000
        };
        // Two random places of n are closer than n/1000 with probability 0.002.
        let close = (0..10_000).filter(close).count();
        assert!(close < 60, "{close} of 10000 neighbours stayed close");
    }

    #[test]
    fn seeds_choose_different_orders() {
        let orders: Vec<_> = (0..20).map(|seed| images(64, seed)).collect();
        for (first, order) in orders.iter().enumerate() {
            assert!(orders.iter().skip(first + 1).all(|other| other != order));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_seed_permutes_any_key_space(rows in 1u64..20_000, seed: u64) {
            prop_assert!(is_bijection(rows, seed));
        }
    }
}
