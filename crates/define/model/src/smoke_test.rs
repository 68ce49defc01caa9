//! Failures of an engine library's smoke test.

use std::fmt;

/// Why a library failed its smoke test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SmokeTestFailure {
    /// It was not loaded; the driver's message.
    NotLoaded(String),
    /// It ended its process, or hung: "it died of signal 11 (SEGV)".
    Died(String),
    /// It returns a wrong result, or rejects a required operation.
    Wrong(String),
}

impl fmt::Display for SmokeTestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded(reason) | Self::Died(reason) | Self::Wrong(reason) => f.pad(reason),
        }
    }
}
