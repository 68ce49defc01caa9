//! The rows that a distribution picks from, and their use.

/// How a picked row is used: skew by hot spot differs for points and ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The row itself is read or written.
    Point,
    /// A range read starts at the row.
    Range,
}

/// The rows a client picks from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    /// Rows of the key space, >= 1.
    pub(crate) rows: u64,
    /// How the picked rows are used.
    pub(crate) access: Access,
    /// First row of the client's own part, for orders that divide the rows among the clients.
    pub(crate) first: u64,
}
