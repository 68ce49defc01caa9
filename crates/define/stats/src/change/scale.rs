//! Scales on which a history is analysed.

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
