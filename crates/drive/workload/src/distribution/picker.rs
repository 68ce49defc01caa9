//! A key distribution of any kind.

use super::plain::{Sequential, Shuffled, Uniform};
use super::scrambled::Scrambled;
use super::zipf::{Latest, Zipf};
use crate::random::Stream;

/// A way to pick rows, chosen when the step begins.
// `repr(u8)` gives it a tag of its own: three instructions fewer than the niche in `Permuted`.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum Picker {
    /// The rows, or the first of them, equally often.
    Uniform(Uniform),
    /// Upwards.
    Sequential(Sequential),
    /// In another order, or by rank.
    Permuted(Permuted),
}

/// The ways that take tens of instructions: called, so that each hot loop stays small.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Permuted {
    /// Each row once.
    Shuffled(Shuffled),
    /// By Zipf's law.
    Zipf(Zipf),
    /// The last rows most often.
    Latest(Latest),
    /// By Zipf's law over a larger set, hashed to the rows.
    Scrambled(Scrambled),
}

impl Picker {
    /// Returns the row of operation `n`: an id below `rows`, a function of the arguments alone.
    ///
    /// On the hot path: no allocation.
    #[inline]
    pub(crate) fn pick(&self, stream: Stream, n: u64) -> u64 {
        match self {
            Self::Uniform(uniform) => uniform.pick(stream, n),
            Self::Sequential(sequential) => sequential.pick(n),
            Self::Permuted(permuted) => permuted.pick(stream, n),
        }
    }
}

impl Permuted {
    #[inline(never)]
    fn pick(&self, stream: Stream, n: u64) -> u64 {
        match self {
            Self::Shuffled(shuffled) => shuffled.pick(n),
            Self::Zipf(zipf) => zipf.pick(stream, n),
            Self::Latest(latest) => latest.pick(stream, n),
            Self::Scrambled(scrambled) => scrambled.pick(stream, n),
        }
    }
}
