//! A pipelined statement and how its answer is read.

/// A statement in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) expected: ExpectedResult,
    /// Bytes of a call's values, or of the key of a read.
    pub(crate) bytes: u64,
}

/// The expected result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExpectedResult {
    /// The value of one key, or nothing.
    Get,
    /// Keys and values.
    Scan,
    /// Confirmation of a write or delete.
    Write,
    /// The rows of a single-statement procedure.
    Call {
        /// Whether no rows mean not found.
        is_read: bool,
    },
}
