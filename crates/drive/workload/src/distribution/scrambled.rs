//! Scrambled zipf of YCSB: ranks of a fixed large set, hashed to the rows.
//!
//! Several ranks fall on one row, so the hot rows are a little less hot and the others more alike
//! than by `zipf`, and hardly depend on the number of rows.
//!
//! Source: [YCSB source], `ScrambledZipfianGenerator` and `fnvhash64`.

use super::plain::Space;
use super::zipf::Ranks;
use crate::random::Stream;

/// Ranks that are drawn.
///
/// The set whose zeta YCSB has as a constant (26.469 at 0.99), though newer versions name a larger
/// one next to it.
const RANKS: u64 = 10_000_000_000;
/// Start of the hash. Source: RFC 9923, FNV-1a of 64 bits.
const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// Factor of the hash. Source: as above.
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Picks the row that a rank drawn by Zipf's law hashes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scrambled {
    ranks: Ranks,
    rows: u64,
}

impl Scrambled {
    /// Returns the distribution over all rows with skew `theta`.
    pub(crate) fn new(space: Space, theta: f64) -> Self {
        Self { ranks: Ranks::new(RANKS, theta), rows: space.rows }
    }

    /// Returns the row of operation `n`.
    pub(crate) fn pick(&self, stream: Stream, n: u64) -> u64 {
        hash(self.ranks.rank(stream, n) - 1) % self.rows
    }
}

/// Returns the hash of the bytes of a number, the lowest first, without a sign.
fn hash(number: u64) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    number.to_le_bytes().into_iter().fold(OFFSET_BASIS, step).cast_signed().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::super::zipf::tests::harmonic;
    use super::*;
    use crate::distribution::registry::tests::{space, stream};

    #[test]
    fn the_sum_over_all_ranks_is_the_published_constant() {
        // Source: [YCSB source], `ZETAN`.
        assert!((harmonic(RANKS, 0.99) - 26.469_028_201_783_02).abs() < 1e-6);
    }

    #[test]
    fn the_hash_is_that_of_the_published_generator() {
        // Computed from the definition with arbitrary precision.
        assert_eq!(hash(0), 0xa8c7_f832_281a_39c5_u64.cast_signed().unsigned_abs());
    }

    #[test]
    fn rows_are_picked_as_often_as_the_ranks_that_hash_to_them() {
        // Goal: the distribution over rows is that of the definition. Method: the exact share of
        // each of 1,000 rows by the first million ranks, the rest spread evenly (each row gets
        // about ten million of those ranks); chi-square with 999 degrees of freedom exceeds 1,180
        // by chance once in 10,000.
        let (rows, exact) = (1_000_u64, 1_000_000_u64);
        let total = harmonic(RANKS, 0.99);
        let mut share = vec![0.0; 1_000];
        let mut head = 0.0;
        for rank in 1..=exact {
            let p = (rank as f64).powf(-0.99) / total;
            head += p;
            share[usize::try_from(hash(rank - 1) % rows).unwrap()] += p;
        }
        share.iter_mut().for_each(|share| *share += (1.0 - head) / 1_000.0);
        let scrambled = Scrambled::new(space(rows), 0.99);
        let (mut counts, draws) = (vec![0u64; 1_000], 400_000);
        for n in 0..draws {
            counts[usize::try_from(scrambled.pick(stream(), n)).unwrap()] += 1;
        }
        let square = |(count, share): (&u64, &f64)| {
            let expected = share * draws as f64;
            (*count as f64 - expected).powi(2) / expected
        };
        let square: f64 = counts.iter().zip(&share).map(square).sum();
        assert!(square < 1_180.0, "{square}");
        let hottest = share.iter().copied().fold(0.0, f64::max);
        assert!(hottest > 1.0 / total && hottest < 1.1 / total, "rank 1 and a little more");
    }
}
