//! How a run ended.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Nanos};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum RunEnd {
    /// It has not ended; in a stored record, Assay itself was killed.
    Running,
    /// Every step was executed.
    Complete,
    /// The user stopped it.
    Interrupted {
        /// Step it was in.
        step: String,
    },
    /// The engine or the harness reported an error.
    Failed {
        /// Step it was in.
        step: String,
        /// The error, as the engine reports it.
        reason: String,
    },
    /// An answer was wrong, rows were lost, or a check did not hold: no figure of the run counts.
    FailedCheck {
        /// Step it was in.
        step: String,
        /// What was found, and what was expected.
        reason: String,
    },
    /// The worker died of a signal or exited without a message.
    Crashed {
        /// Step it was in.
        step: String,
        /// The operating system's message.
        reason: String,
    },
    /// No operation ended for longer than the watchdog allows; the worker was killed.
    Hung {
        /// Step it was in.
        step: String,
        /// How long nothing ended.
        waited_ns: Nanos,
        /// Last line that the worker wrote on stderr; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        last_line: String,
        /// The lock that its statements waited for, and who held it; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        lock_wait: String,
    },
    /// A client host was lost: its worker or the connection to it ended, or did not answer.
    LostHost {
        /// Step it was in.
        step: String,
        /// Name of the host.
        host: String,
        /// What was noticed.
        reason: String,
    },
    /// The kernel killed the worker for memory.
    OutOfMemory {
        /// Step it was in.
        step: String,
        /// The kernel's count and the limit; empty in older records.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// Free disk space fell below the floor; the worker was stopped.
    DiskFloor {
        /// Step it was in.
        step: String,
        /// Free space measured.
        free_bytes: Bytes,
    },
}

impl RunEnd {
    /// Returns whether every step was executed.
    pub const fn is_complete(&self) -> bool {
        matches!(self, Self::Complete)
    }

    /// Returns the end in one short phrase for tables and progress lines.
    pub fn phrase(&self) -> String {
        match self {
            Self::Running => "killed with Assay".to_owned(),
            Self::Complete => "complete".to_owned(),
            Self::Interrupted { step } => format!("interrupted in {step}"),
            Self::Failed { step, reason } => format!("failed in {step}: {reason}"),
            Self::FailedCheck { step, reason } => format!("failed a check in {step}: {reason}"),
            Self::Crashed { step, reason } => format!("crashed in {step}: {reason}"),
            Self::Hung { step, waited_ns, last_line, lock_wait } => {
                let line = if last_line.is_empty() { "" } else { "; last log line: " };
                let wait = if lock_wait.is_empty() { "" } else { "; " };
                format!(
                    "hung in {step}: no operation ended for \
                     {waited_ns}{wait}{lock_wait}{line}{last_line}"
                )
            }
            Self::LostHost { step, host, reason } => {
                format!("lost client host {host} in {step}: {reason}")
            }
            Self::OutOfMemory { step, reason } => {
                let separator = if reason.is_empty() { "" } else { ": " };
                format!("killed for memory in {step}{separator}{reason}")
            }
            Self::DiskFloor { step, free_bytes } => {
                format!("stopped in {step}: only {free_bytes} of disk left")
            }
        }
    }
}
