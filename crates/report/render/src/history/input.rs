//! What a history's report is made of.

use analysis::history::{Gathered, Study};

/// What a history's report is made of.
#[derive(Debug, Clone, Copy)]
pub struct HistoryInput<'a> {
    /// What was found.
    pub study: &'a Study,
    /// What the archive left out; `None` for histories from elsewhere.
    pub gathered: Option<&'a Gathered>,
}
