//! Health of a drive, as it reports it.

use serde::{Deserialize, Serialize};

/// What a drive reports of itself; `None` where it does not.
///
/// Source: [NVM Express 1.4], section 5.14.1.2, SMART / Health Information.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveHealth {
    /// Rated writes that were used up, per cent; may exceed 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear_percent: Option<u64>,
    /// Spare blocks left, per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<u64>,
    /// Spare below which the drive warns, per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_threshold_percent: Option<u64>,
    /// Errors of the medium, or sectors that cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<u64>,
    /// Time above its warning temperature, minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_minutes: Option<u64>,
    /// Units of 512,000 bytes that hosts wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units_written: Option<u64>,
    /// Whether the drive reports itself as failing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_failing: Option<bool>,
}

/// The health of the drive around one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveSpan {
    /// Before the run.
    pub before: DriveHealth,
    /// After it; absent in a run that was killed with Assay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<DriveHealth>,
}

impl DriveSpan {
    /// Returns the growth of a counter over the run; `None` when it is not known.
    pub fn growth(&self, of: impl Fn(&DriveHealth) -> Option<u64>) -> Option<u64> {
        Some(of(self.after.as_ref()?)?.saturating_sub(of(&self.before)?))
    }
}
