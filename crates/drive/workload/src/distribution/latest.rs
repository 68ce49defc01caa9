//! Latest: Zipf over the distance from the highest id.
//!
//! Source: [Cooper et al. 2010], section 4.1 ("Latest"), for a key space that does not grow during
//! the step.

use super::picker::{Picker, Space};
use super::zipf::Ranks;
use crate::random::Stream;

/// Picks the row with the highest id most often, then the one before it, and so on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latest {
    ranks: Ranks,
    rows: u64,
}

impl Latest {
    /// Returns the distribution over all rows with skew `theta`.
    pub(super) fn new(space: Space, theta: f64) -> Self {
        Self { ranks: Ranks::new(space.rows, theta), rows: space.rows }
    }
}

impl Picker for Latest {
    #[inline]
    fn pick(&self, stream: Stream, n: u64) -> u64 {
        self.rows - self.ranks.rank(stream, n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::registry::tests::{space, stream};

    #[test]
    fn the_newest_row_is_picked_most() {
        let latest = Latest::new(space(100), 0.99);
        let mut counts = [0u32; 100];
        for n in 0..20_000 {
            counts[usize::try_from(latest.pick(stream(), n)).unwrap()] += 1;
        }
        assert!(counts[99] > counts[98] && counts[98] > counts[90] && counts[90] > counts[10]);
        // The exact share of rank 1 of 100 at 0.99 is 0.190; the standard deviation is 0.0028.
        assert!((f64::from(counts[99]) / 20_000.0 - 0.190).abs() < 0.014, "{}", counts[99]);
    }
}
