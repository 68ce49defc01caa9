//! What the sessions and the background jobs of a database do.

use std::sync::Arc;

use crate::perf::Counted;
use crate::written::Written;

/// Counters of one session, held until the database closes.
pub(crate) struct SessionCounts {
    /// Bytes it wrote.
    pub(crate) written: Arc<Written>,
    /// Counters of its perf context, if any.
    pub(crate) counted: Option<Arc<Counted>>,
}

/// Background work as the engine reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// Flushes and compactions that run.
    pub(crate) running: u64,
    /// Those that wait.
    pub(crate) waiting: u64,
    /// Pending compaction bytes.
    pub(crate) debt: u64,
}
