//! The findings of a history.

use serde::Serialize;

/// The scale on which a history was analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Logarithms: every value is positive, a change is a ratio.
    Log,
    /// The values themselves: some are zero or negative, a change is a difference.
    Linear,
}

impl Scale {
    /// Returns a value on this scale.
    pub fn of(self, value: f64) -> f64 {
        match self {
            Self::Log => value.ln(),
            Self::Linear => value,
        }
    }

    /// Returns the value at a place of this scale.
    pub fn back(self, place: f64) -> f64 {
        match self {
            Self::Log => place.exp(),
            Self::Linear => place,
        }
    }

    /// Returns a shift as a share of the level; `None` from 0.
    pub fn share(self, shift: f64, from: f64) -> Option<f64> {
        match self {
            Self::Log => Some(shift.exp_m1()),
            Self::Linear => (from != 0.0).then(|| shift / from.abs()),
        }
    }
}

/// Confidence class of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Two to four points of the new level.
    New,
    /// Five points of the new level or more.
    Confirmed,
}

impl Confidence {
    /// Returns the class of a level that was held for `points` points.
    pub(super) const fn of(points: usize) -> Self {
        /// Points of a new level that confirm it: our choice.
        const CONFIRMED: usize = 5;
        if points >= CONFIRMED { Self::Confirmed } else { Self::New }
    }
}

/// A lasting change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// First point of the new level, an index into the values given.
    pub index: usize,
    /// Earliest point at which the new level may have begun.
    pub earliest: usize,
    /// Latest point at which it may have begun.
    pub latest: usize,
    /// Level before.
    pub before: f64,
    /// Level after.
    pub after: f64,
    /// Growth as a share of the level before; `None` from level 0.
    pub effect: Option<f64>,
    /// Lower limit of its 95 % interval.
    pub low: Option<f64>,
    /// Upper limit of its 95 % interval.
    pub high: Option<f64>,
    /// p-value, corrected for the search.
    pub p: f64,
    /// Points at the new level.
    pub points: usize,
    /// Confidence class.
    pub confidence: Confidence,
}

/// A slow ramp from one level to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// Slope per point as a share of the level; `None` from 0.
    pub slope_per_point: Option<f64>,
    /// First point of the ramp.
    pub from: usize,
    /// Last point of the ramp.
    pub to: usize,
    /// Level at its start.
    pub before: f64,
    /// Level at its end.
    pub after: f64,
    /// Growth over the ramp as a share; `None` from 0.
    pub effect: Option<f64>,
}

/// An outlying last point: a change or a spike, undecided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Suspect {
    /// The point.
    pub index: usize,
    /// Level before it.
    pub before: f64,
    /// Its value.
    pub value: f64,
    /// Growth as a share of the level before; `None` from level 0.
    pub effect: Option<f64>,
    /// p-value of such a last point.
    pub p: f64,
}

/// A lasting change of the noise about the level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NoiseChange {
    /// First point of the new noise.
    pub index: usize,
    /// Standard deviation after, as a multiple of that before.
    pub ratio: f64,
}

/// Smallest lasting changes detectable at 80 % power.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Detectable {
    /// Change half-way through the history, as a share of the level.
    pub halfway: f64,
    /// Change five points before its end, as a share of the level.
    pub recent: f64,
}

/// A stretch of the fitted curve: level, or ramp.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Piece {
    /// First point.
    pub from: usize,
    /// Last point.
    pub to: usize,
    /// Fitted value at the first point.
    pub first: f64,
    /// Fitted value at the last point.
    pub last: f64,
}

/// All findings of one history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Scale of the analysis.
    pub scale: Scale,
    /// Values analysed; missing ones are left out, never filled.
    pub values: usize,
    /// Whether it was split as a short history, without autocorrelation.
    pub is_short: bool,
    /// Lasting changes, in their order.
    pub changes: Vec<Change>,
    /// Slow ramps, in their order.
    pub drifts: Vec<Drift>,
    /// Single outliers, in their order.
    pub spikes: Vec<usize>,
    /// The last point, when it may begin a new level.
    pub suspect: Option<Suspect>,
    /// Standard deviation about the fitted curve, on the analysis scale.
    pub noise: f64,
    /// Lag-one autocorrelation, 0 to 0.9.
    pub autocorrelation: f64,
    /// Lasting changes of the noise.
    pub noise_changes: Vec<NoiseChange>,
    /// Minimum detectable change; `None` with too few values.
    pub detectable: Option<Detectable>,
    /// The fitted curve.
    pub pieces: Vec<Piece>,
}
