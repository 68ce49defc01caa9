//! Minimum detectable change at 80 % power.

use super::level::Noise;
use super::series::{Detectable, Scale};
use super::short::{CHANCE, SHORT};
use crate::distribution::student::half_width;

/// Points of a new level in the second figure.
const RECENT: usize = 5;
/// Level of the two-sided interval with 20 % below it: 80 % power.
const POWERED: f64 = 0.6;
/// Fewest values in which a change is detectable.
const FEWEST: usize = 6;

/// Returns the detectable changes of a history of so many values without changes.
///
/// In a long history the difference of two levels, in standard errors, must exceed the root of the
/// penalty; in a short one the quantile of t for the places tried. The observed difference has a
/// standard error of one, so the true one must exceed this by the quantile of the power.
///
/// Source: power of a two-sided test [Cohen 1988, section 12.8].
pub(super) fn detectable(
    scale: Scale,
    level: f64,
    count: usize,
    noise: Noise,
    strictness: f64,
) -> Option<Detectable> {
    if count < FEWEST {
        return None;
    }
    let errors = if count < SHORT {
        let df = (count - 2) as f64;
        let each = CHANCE / (count - 3) as f64;
        half_width(1.0 - each, df) + half_width(POWERED, df)
    } else {
        (strictness * (count as f64).ln()).sqrt() + half_width(POWERED, f64::INFINITY)
    };
    let share = |after: usize| {
        let shift = errors * noise.error(count - after, after);
        scale.share(shift, scale.back(level))
    };
    let recent = RECENT.min(count / 2);
    Some(Detectable { halfway: share(count / 2)?, recent: share(recent)? })
}
