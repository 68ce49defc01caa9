//! Role and end of a client.

use engine::EngineError;

/// Role of a client in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is measured, and ends at the deadline.
    Measured,
    /// It writes in the background, and runs until it is halted.
    Background,
}

/// How a client ended.
#[derive(Debug)]
pub(crate) enum ClientEnd {
    /// It reached its limit or deadline.
    Finished,
    /// It was halted.
    Stopped,
    /// It never ran: the engine gave it no session.
    Refused(EngineError),
    /// The engine failed, or the thread panicked.
    Failed(String),
    /// An answer was wrong.
    Wrong(String),
}
