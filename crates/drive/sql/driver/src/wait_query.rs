//! Queries of what the sessions of a server wait for.

use std::time::Duration;

/// Queries of what sessions wait for.
#[derive(Debug, Clone)]
pub struct WaitQuery {
    /// Returns a row where the server has what the query needs; refused or empty where not.
    pub needs: &'static str,
    /// Prepares the query once; may be empty.
    pub prepare: &'static str,
    /// Returns a row for each session: its number and its event.
    ///
    /// A process or thread of the server itself has no number.
    pub sample: String,
    /// Shortest pause between two samples.
    pub least_pause: Duration,
}
