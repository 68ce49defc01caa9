//! What would have been seen.

use serde::Serialize;

use super::level::Noise;
use super::series::Scale;
use super::short::{CHANCE, SHORT};
use crate::distribution::student::half_width;

/// Points of a new level in the second figure.
const RECENT: usize = 5;
/// Level of the two-sided interval that leaves out one time in five on its lower side: the changes
/// told would have been seen four times in five.
const POWERED: f64 = 0.6;
/// Fewest values in which anything could be seen at all.
const FEWEST: usize = 6;

/// The smallest lasting changes that would have been seen four times in five.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Detectable {
    /// Change half-way through the history, as a share of the level.
    pub halfway: f64,
    /// Change five points before its end, as a share of the level.
    pub recent: f64,
}

/// How a history was searched.
pub(super) struct Searched {
    pub(super) scale: Scale,
    pub(super) level: f64,
    pub(super) values: usize,
    pub(super) noise: Noise,
    pub(super) strictness: f64,
}

impl Searched {
    /// Returns what would have been seen in a history without changes.
    ///
    /// In a long history the difference of two levels, in standard errors, must exceed the root of
    /// the penalty; in a short one it must reach the quantile of t for the places tried. It is
    /// observed with an error of one, so the true one must lie the quantile of the power above.
    ///
    /// Source: the project's reference, analysis, sections 1.5 and 4.2.
    pub(super) fn detectable(&self) -> Option<Detectable> {
        let count = self.values;
        if count < FEWEST {
            return None;
        }
        let errors = if count < SHORT {
            let df = (count - 2) as f64;
            let each = CHANCE / (count - 3) as f64;
            half_width(1.0 - each, df) + half_width(POWERED, df)
        } else {
            (self.strictness * (count as f64).ln()).sqrt() + half_width(POWERED, f64::INFINITY)
        };
        let share = |after: usize| {
            let shift = errors * self.noise.error(count - after, after);
            self.scale.share(shift, self.scale.back(self.level))
        };
        let recent = RECENT.min(count / 2);
        Some(Detectable { halfway: share(count / 2)?, recent: share(recent)? })
    }
}
