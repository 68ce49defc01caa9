//! The input of histories.

use analysis::history::{Gathered, Study};

/// A study with what the archive left out.
#[derive(Debug, Clone, Copy)]
pub struct HistoryInput<'a> {
    /// The study.
    pub study: &'a Study,
    /// What the archive left out; `None` for histories from elsewhere.
    pub gathered: Option<&'a Gathered>,
}
