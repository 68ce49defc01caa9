//! Distributions of rows that are alike: uniform, sequential, shuffled, and a hot spot.

use crate::permutation::Permutation;
use crate::random::{Stream, below};

/// How a picked row is used: skew by hot spot differs for points and ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The row itself is read or written.
    Point,
    /// A range read starts at the row.
    Range,
}

/// The rows a client picks from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    /// Rows of the key space, >= 1.
    pub(crate) rows: u64,
    /// How the picked rows are used.
    pub(crate) access: Access,
    /// First row of the client's own part, for orders that divide the rows among the clients.
    pub(crate) first: u64,
}

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

    /// Returns the hot spot `POINTS.RANGE`: the first rows equally often and no other.
    ///
    /// Source: [Callaghan 2022-10-19]: with skew 64.512 "point (range) queries only access the
    /// first 64 (512) key-value pairs", with 8.64 the first 8 (64). A range read here starts in the
    /// first rows and may walk out of them.
    ///
    /// # Errors
    /// Names the range of both numbers.
    pub(super) fn parse_hotspot(text: Option<&str>, space: Space) -> Result<Self, String> {
        let rows = space.rows;
        let parse = |text: &str| text.parse().ok().filter(|hot| (1..=rows).contains(hot));
        let numbers = text.and_then(|text| text.split_once('.'));
        let numbers = numbers.map(|(points, range)| (parse(points), parse(range)));
        match numbers {
            Some((Some(points), Some(range))) => {
                Ok(Self { rows: if space.access == Access::Point { points } else { range } })
            }
            _ => Err(format!("takes two whole numbers from 1 to {rows}, the number of rows")),
        }
    }

    /// Returns the row of operation `n`.
    #[inline]
    pub(crate) fn pick(&self, stream: Stream, n: u64) -> u64 {
        below(stream.word(n), self.rows)
    }
}

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

    /// Returns the row of operation `n`.
    #[inline]
    pub(super) fn pick(&self, n: u64) -> u64 {
        let id = self.first.wrapping_add(n);
        // A division costs more than the rest of the pick, and is needed in the second round only.
        if id < self.rows { id } else { id % self.rows }
    }
}

/// Walks a permutation of the rows from the client's own first place: each row exactly once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shuffled {
    permutation: Permutation,
    first: u64,
}

impl Shuffled {
    /// Returns the walk; `order` chooses the permutation and is the same for all clients.
    pub(crate) fn new(space: Space, order: Stream) -> Self {
        Self { permutation: Permutation::new(space.rows, order), first: space.first }
    }

    /// Returns the row of operation `n`.
    #[inline]
    pub(super) fn pick(&self, n: u64) -> u64 {
        self.permutation.apply(self.first + n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::registry::tests::{chi_square, space, stream};

    #[test]
    fn the_walk_wraps_at_the_last_row() {
        let walk = Sequential::new(Space { first: 3, ..space(5) });
        let ids: Vec<_> = (0..7).map(|n| walk.pick(n)).collect();
        assert_eq!(ids, [3, 4, 0, 1, 2, 3, 4]);
    }

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

    #[test]
    fn points_and_ranges_have_their_own_spot() {
        let point = space(10_000);
        let range = Space { access: Access::Range, ..point };
        for (space, hot) in [(point, 64), (range, 512)] {
            let hotspot = Uniform::parse_hotspot(Some("64.512"), space).unwrap();
            let mut found = vec![false; hot];
            for n in 0..20_000 {
                found[usize::try_from(hotspot.pick(stream(), n)).unwrap()] = true;
            }
            assert!(found.iter().all(|found| *found), "a hot row of {hot} was never picked");
        }
    }
}
