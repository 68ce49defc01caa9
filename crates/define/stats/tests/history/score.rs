//! Scores of found changes against the true ones.

use std::ops::AddAssign;

/// Distance in points within which a found change matches a true one.
pub(crate) const TOLERANCE: usize = 5;

/// Changes found, found without being there, and missed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Score {
    pub(crate) found: usize,
    pub(crate) false_ones: usize,
    pub(crate) missed: usize,
}

impl Score {
    /// Matches each true change with the nearest free found one, in order.
    pub(crate) fn of(found: &[usize], truth: &[usize]) -> Self {
        let mut open = found.to_vec();
        let mut hits = 0;
        for at in truth {
            let near = open.iter().enumerate().filter(|(_, one)| one.abs_diff(*at) <= TOLERANCE);
            if let Some((index, _)) = near.min_by_key(|(_, one)| one.abs_diff(*at)) {
                open.remove(index);
                hits += 1;
            }
        }
        Self { found: hits, false_ones: open.len(), missed: truth.len() - hits }
    }

    /// Returns the share of the true changes that were found; 1 when there are none.
    pub(crate) fn recall(self) -> f64 {
        share(self.found, self.found + self.missed)
    }

    /// Returns the share of the found changes that are true; 1 when there are none.
    pub(crate) fn precision(self) -> f64 {
        share(self.found, self.found + self.false_ones)
    }

    /// Returns the harmonic mean of both.
    pub(crate) fn f1(self) -> f64 {
        share(2 * self.found, 2 * self.found + self.false_ones + self.missed)
    }
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        self.found += other.found;
        self.false_ones += other.false_ones;
        self.missed += other.missed;
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[test]
fn a_change_is_found_once_and_only_nearby() {
    assert_eq!(Score::of(&[98, 101, 150], &[100]), Score { found: 1, false_ones: 2, missed: 0 });
    assert_eq!(Score::of(&[106], &[100]), Score { found: 0, false_ones: 1, missed: 1 });
    assert!((Score::of(&[], &[]).f1() - 1.0).abs() < 1e-12);
}
