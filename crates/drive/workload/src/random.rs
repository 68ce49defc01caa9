//! Random numbers by position: word n of a stream in constant time.
//!
//! Source: [Wang 2022], `wyrand`: a Weyl sequence whose state is
//! folded through one 64 x 64 -> 128 bit product. Its state after n steps is `base + n * WEYL`,
//! so any word can be had at once. It passes BigCrush and PractRand (as its author reports).

use crate::generator::Group;

/// Increment of the Weyl sequence. Source: [Wang 2022], first secret.
const WEYL: u64 = 0xa076_1d64_78bd_642f;
/// Mask of the second factor. Source: [Wang 2022], second secret.
const TWIST: u64 = 0xe703_7ed1_a0b4_28db;

/// Returns the two halves of the product of `a` and `b`, folded into one word.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the two halves are wanted apart")]
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    (product >> 64) as u64 ^ product as u64
}

/// Returns a word that depends on every bit of `a` and `b`.
#[inline]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    fold(a ^ WEYL, b ^ TWIST)
}

/// Returns a whole number in `0..bound`, as even as the word is.
///
/// No value is favoured by more than `bound / 2^64`: 5e-11 for 10^9 rows.
/// Source: [Lemire 2019], section 3, without the rejection.
#[inline]
pub const fn below(word: u64, bound: u64) -> u64 {
    ((word as u128 * bound as u128) >> 64) as u64
}

/// Returns a number in `0.0..1.0` with 53 random bits.
#[inline]
pub fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// An endless sequence of random words with random access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    base: u64,
}

impl Stream {
    /// Returns the stream of one client of one step.
    ///
    /// The step's name enters, so that a step does not repeat the keys that an earlier one has
    /// just brought into the cache. Source: rocksdb issues 9632 and 9737 (reused seeds).
    pub fn new(seed: u64, step: &str, group: Group, client: u32) -> Self {
        let group = match group {
            Group::Clients => 0,
            Group::Writers => 1,
        };
        let name = step.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)));
        Self { base: mix(mix(mix(seed, name), group), u64::from(client)) }
    }

    /// Returns a stream that depends on nothing but `base`.
    pub const fn fixed(base: u64) -> Self {
        Self { base }
    }

    /// Returns a stream of the same owner for another purpose.
    pub const fn branch(self, purpose: u64) -> Self {
        Self { base: mix(self.base, purpose) }
    }

    /// Returns the word that names the stream.
    pub(crate) const fn base(self) -> u64 {
        self.base
    }

    /// Returns word `n`.
    #[inline]
    pub const fn word(self, n: u64) -> u64 {
        let state = self.base.wrapping_add(n.wrapping_mul(WEYL));
        fold(state, state ^ TWIST)
    }

    /// Returns the word after `word` for a draw that needs more than one.
    #[inline]
    pub const fn another(word: u64) -> u64 {
        mix(word, WEYL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_wyrand_read_at_a_position() {
        // Goal: the words are those of the published generator, which has published tests.
        // Method: the reference algorithm, state and all, from the same start.
        let stream = Stream::fixed(42);
        let mut state = 42u64;
        for n in 1..1000 {
            state = state.wrapping_add(WEYL);
            let product = u128::from(state) * u128::from(state ^ TWIST);
            let low = u64::try_from(product & u128::from(u64::MAX)).unwrap();
            assert_eq!(stream.word(n), low ^ (product >> 64) as u64);
        }
    }

    #[test]
    fn every_part_of_a_stream_s_name_counts() {
        let base = Stream::new(1, "readrandom", Group::Clients, 0);
        assert_ne!(base, Stream::new(2, "readrandom", Group::Clients, 0));
        assert_ne!(base, Stream::new(1, "overwrite", Group::Clients, 0));
        assert_ne!(base, Stream::new(1, "readrandom", Group::Writers, 0));
        assert_ne!(base, Stream::new(1, "readrandom", Group::Clients, 1));
    }

    #[test]
    fn bits_are_set_half_of_the_time_in_every_place() {
        // Goal: no bit of a word is stuck or biased. Method: 2^16 words; the count of ones per
        // bit is binomial with standard deviation 128; 6 of them are allowed.
        let stream = Stream::new(7, "readrandom", Group::Clients, 3);
        let mut ones = [0i64; 64];
        for n in 0..1 << 16 {
            let word = stream.word(n);
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += i64::from(word >> bit & 1 == 1);
            }
        }
        assert!(ones.iter().all(|count| (count - (1 << 15)).abs() < 6 * 128), "{ones:?}");
    }

    #[test]
    fn bounds_hold_at_both_ends() {
        assert_eq!((below(0, 10), below(u64::MAX, 10)), (0, 9));
        assert_eq!(below(u64::MAX, 1), 0);
        assert!(unit(0) == 0.0 && unit(u64::MAX) < 1.0);
    }
}
