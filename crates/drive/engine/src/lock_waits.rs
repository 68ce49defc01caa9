//! Limit and reports of waits for locks outside of measured spans.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// Longest wait of a statement for a lock that another session holds.
///
/// Our choice: other sessions' statements have ended by then, or their transaction was left open.
const LIMIT: Duration = Duration::from_secs(10);

/// Longest time of an answer outside of measured spans, unless its statement may take long.
///
/// Our choice: a busy server answers such a query within seconds.
const SILENT_MAX: Duration = Duration::from_secs(30);

/// Text that is in every error of a server that does not answer in time.
pub const NO_ANSWER: &str = "does not answer";

/// How long statements outside of measured spans wait for a lock, and where waits are reported.
#[derive(Debug, Clone)]
pub struct LockWaits {
    /// Longest wait of a statement for one lock.
    pub limit: Duration,
    /// Longest time of an answer of a server, without a statement that may take long.
    pub silent_max: Duration,
    /// Receives a sentence for each wait: statement, and session that holds the lock.
    pub reports: Option<SyncSender<String>>,
    /// Whether another process of this run holds the lock of the database, with its tables set up.
    pub is_lock_held: bool,
}

impl LockWaits {
    /// Returns the waits of a process that is killed when it is silent for the time of `watchdog`.
    ///
    /// The limits are 50 % and 75 % of that at most: a reason comes before the kill.
    pub fn within(watchdog: Duration, reports: SyncSender<String>) -> Self {
        Self {
            limit: LIMIT.min(watchdog / 2),
            silent_max: SILENT_MAX.min(watchdog * 3 / 4),
            reports: Some(reports),
            is_lock_held: false,
        }
    }

    /// Reports a wait; never blocks.
    pub fn report(&self, text: &str) {
        if let Some(reports) = &self.reports {
            // Who does not read them needs none.
            reports.try_send(text.to_owned()).ok();
        }
    }
}

impl Default for LockWaits {
    fn default() -> Self {
        Self { limit: LIMIT, silent_max: SILENT_MAX, reports: None, is_lock_held: false }
    }
}
