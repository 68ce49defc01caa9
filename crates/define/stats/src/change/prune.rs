//! Which changes stand out from the noise at their own boundary.

use statrs::function::erf::erfc;

use super::level::{Noise, edges};
use crate::pelt::Sums;

/// Largest chance, corrected for the search, at which a change is kept.
///
/// Source: the project's reference, analysis, section 4.2, step 3.
pub(super) const CHANCE: f64 = 0.001;
/// Points on both sides from which on their own variances are asked too.
const OWN: usize = 5;

/// A change with the chance of it in noise alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kept {
    /// First point of the new level.
    pub(super) at: usize,
    /// Chance, corrected for the search.
    pub(super) p: f64,
}

/// Takes changes back, the weakest first, until each that is left stands out.
///
/// Source: as [`CHANCE`].
pub(super) fn prune(sums: &Sums, mut changes: Vec<usize>, noise: Noise) -> Vec<Kept> {
    loop {
        let edges = edges(&changes, sums.len());
        let kept: Vec<Kept> = edges
            .windows(3)
            .map(|three| Kept { at: three[1], p: chance(distance(sums, three, noise), sums.len()) })
            .collect();
        let weakest = kept.iter().enumerate().max_by(|one, other| one.1.p.total_cmp(&other.1.p));
        match weakest {
            Some((index, weakest)) if weakest.p > CHANCE => {
                changes.remove(index);
            }
            _ => return kept,
        }
    }
}

/// Returns the chance of a normal variable that far from 0, somewhere among `len` points.
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
