//! Errors of a campaign of cuts.

use std::io;

use model::CutLevel;

/// A campaign, or one of its cuts, that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CutError {
    /// This machine or account lacks what the level needs; the text has the remedy.
    #[error("cuts of level {0} cannot be made here: {1}")]
    Lacking(CutLevel, String),
    /// The store failed before it was cut.
    #[error("the store failed before cut {0}: {1}")]
    Store(u32, String),
    /// A known store did not behave as is known: no verdict of the level can be trusted.
    #[error("no verdict at level {0}: {1}")]
    Calibration(CutLevel, String),
    /// The process that makes the cuts ended.
    #[error("the process that makes the cuts ended: {0}")]
    Host(String),
    /// A child or a file failed.
    #[error("{0}: {1}")]
    Io(&'static str, io::Error),
}

impl CutError {
    /// Returns what adds the failed action to an error.
    pub(crate) fn during(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(action, error)
    }
}
