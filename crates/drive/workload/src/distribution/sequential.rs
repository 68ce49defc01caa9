//! Every row in its turn, in key order.

use super::picker::{Picker, Space};
use crate::random::Stream;

/// Walks the rows upwards from the client's own first row and begins again after the last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequential {
    rows: u64,
    first: u64,
}

impl Sequential {
    /// Returns the walk that begins at the client's own part.
    pub(crate) const fn new(space: Space) -> Self {
        Self { rows: space.rows, first: space.first }
    }
}

impl Picker for Sequential {
    #[inline]
    fn pick(&self, _stream: Stream, n: u64) -> u64 {
        let id = self.first.wrapping_add(n);
        // A division costs more than the rest of the pick, and is needed in the second round only.
        if id < self.rows { id } else { id % self.rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::registry::tests::{space, stream};

    #[test]
    fn the_walk_wraps_at_the_last_row() {
        let walk = Sequential::new(Space { first: 3, ..space(5) });
        let ids: Vec<_> = (0..7).map(|n| walk.pick(stream(), n)).collect();
        assert_eq!(ids, [3, 4, 0, 1, 2, 3, 4]);
    }
}
