//! Hot spot: only the first few rows, for contention.
//!
//! Source: [Callaghan 2022-10-19]: with skew 64.512 "point
//! (range) queries only access the first 64 (512) key-value pairs", with 8.64 the first 8 (64).
//! A range read here starts in the first rows and may walk out of them.

use super::picker::{Access, Picker, Space};
use crate::random::{Stream, below};

/// Picks the first rows equally often and no other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hotspot {
    hot_rows: u64,
}

impl Hotspot {
    /// Reads `POINTS.RANGE`: how many first rows point operations and range reads use.
    ///
    /// # Errors
    /// Names the range of both numbers.
    pub(super) fn parse(text: Option<&str>, space: Space) -> Result<Self, String> {
        let rows = space.rows;
        let parse = |text: &str| text.parse().ok().filter(|hot| (1..=rows).contains(hot));
        let numbers = text.and_then(|text| text.split_once('.'));
        let numbers = numbers.map(|(points, range)| (parse(points), parse(range)));
        match numbers {
            Some((Some(points), Some(range))) => {
                let hot_rows = if space.access == Access::Point { points } else { range };
                Ok(Self { hot_rows })
            }
            _ => Err(format!("takes two whole numbers from 1 to {rows}, the rows there are")),
        }
    }
}

impl Picker for Hotspot {
    #[inline]
    fn pick(&self, stream: Stream, n: u64) -> u64 {
        below(stream.word(n), self.hot_rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::registry::tests::{space, stream};

    #[test]
    fn points_and_ranges_have_their_own_spot() {
        let point = space(10_000);
        let range = Space { access: Access::Range, ..point };
        for (space, hot) in [(point, 64), (range, 512)] {
            let hotspot = Hotspot::parse(Some("64.512"), space).unwrap();
            let mut found = vec![false; hot];
            for n in 0..20_000 {
                found[usize::try_from(hotspot.pick(stream(), n)).unwrap()] = true;
            }
            assert!(found.iter().all(|found| *found), "a hot row of {hot} was never picked");
        }
    }
}
