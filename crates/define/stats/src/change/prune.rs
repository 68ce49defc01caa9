//! Removes changes that are not significant at their own boundary.

use statrs::function::erf::erfc;

use super::level::{Noise, edges};
use crate::pelt::Sums;

/// Largest p-value, corrected for the search, of a change.
///
/// Our choice: a history is searched at every new point, so 5 % would raise an alarm every few
/// weeks.
pub(super) const CHANCE: f64 = 0.001;
/// Fewest points on both sides for their own variances.
const OWN: usize = 5;

/// A boundary between two levels with its p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Boundary {
    /// First point of the new level.
    pub(super) at: usize,
    /// p-value, corrected for the search.
    pub(super) p: f64,
}

/// Removes changes, the weakest first, until all are significant.
pub(super) fn prune(sums: &Sums, mut changes: Vec<usize>, noise: Noise) -> Vec<Boundary> {
    loop {
        let edges = edges(&changes, sums.len());
        let boundaries: Vec<Boundary> = edges
            .windows(3)
            .map(|three| Boundary {
                at: three[1],
                p: chance(distance(sums, three, noise), sums.len()),
            })
            .collect();
        let weakest =
            boundaries.iter().enumerate().max_by(|one, other| one.1.p.total_cmp(&other.1.p));
        match weakest {
            Some((index, weakest)) if weakest.p > CHANCE => {
                changes.remove(index);
            }
            _ => return boundaries,
        }
    }
}

/// Returns the p-value of a normal variable, corrected for `len` places.
pub(super) fn chance(distance: f64, len: usize) -> f64 {
    let searched = (len as f64).ln().max(1.0);
    (erfc(distance / std::f64::consts::SQRT_2) * searched).min(1.0)
}

/// Returns the difference of the levels at a boundary in standard errors: the smaller of that by
/// the noise of the whole history and that by the noise of both sides.
fn distance(sums: &Sums, three: &[usize], noise: Noise) -> f64 {
    let (from, at, to) = (three[0], three[1], three[2]);
    let (before, after) = (at - from, to - at);
    let shift = (sums.mean(at, to) - sums.mean(from, at)).abs();
    let whole = shift / noise.error(before, after);
    if before < OWN || after < OWN {
        return whole;
    }
    let own = |from: usize, to: usize| {
        let points = (to - from) as f64;
        sums.cost(from, to) / (points - 1.0) / points
    };
    let own = shift / ((own(from, at) + own(at, to)) * noise.inflation()).sqrt();
    whole.min(own)
}
