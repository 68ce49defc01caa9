//! Every row equally often.

use super::picker::{Picker, Space};
use crate::random::{Stream, below};

/// Picks each row with the same probability, independently of earlier picks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uniform {
    rows: u64,
}

impl Uniform {
    /// Returns the uniform distribution over all rows.
    pub(crate) const fn new(space: Space) -> Self {
        Self { rows: space.rows }
    }
}

impl Picker for Uniform {
    #[inline]
    fn pick(&self, stream: Stream, n: u64) -> u64 {
        below(stream.word(n), self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::registry::tests::{chi_square, space, stream};

    #[test]
    fn rows_are_picked_equally_often() {
        // 99 degrees of freedom: 161 is exceeded by chance once in 10,000.
        let uniform = Uniform::new(space(100));
        let counts = (0..200_000).map(|n| uniform.pick(stream(), n));
        assert!(chi_square(counts, 100, |_| 0.01) < 161.0);
    }

    #[test]
    fn pairs_of_picks_are_independent() {
        // Goal: op n is independent of op n + 1. Method: 100 cells of pairs, as above.
        let uniform = Uniform::new(space(10));
        let pair = |n: u64| uniform.pick(stream(), 2 * n) * 10 + uniform.pick(stream(), 2 * n + 1);
        assert!(chi_square((0..200_000).map(pair), 100, |_| 0.01) < 161.0);
    }
}
