//! A statement sent ahead: how its answer is read.

/// A statement in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    pub(crate) shape: Shape,
    /// Bytes of the values of a call, or of the key of a row that is to be read.
    pub(crate) bytes: u64,
}

/// What comes back.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// The value of one key, or nothing.
    Get,
    /// Keys and values.
    Scan,
    /// That a key was written or deleted.
    Write,
    /// What a procedure of one statement returns.
    Call {
        /// Whether it has found nothing when no rows come.
        is_read: bool,
    },
}
