//! Why a library of an engine was found not to work.

use std::fmt;

/// Why a library is not what it claims to be, or does not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SmokeTestFailure {
    /// It was not loaded, in the words of its driver.
    NotLoaded(String),
    /// It ended its process, or hung: "it died of signal 11 (SEGV)".
    Died(String),
    /// It answers wrongly, or refuses what it must do.
    Wrong(String),
}

impl fmt::Display for SmokeTestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded(reason) | Self::Died(reason) | Self::Wrong(reason) => f.pad(reason),
        }
    }
}
