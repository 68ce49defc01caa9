//! One request to an engine, and its answer.

use crate::capability::OpKind;
use crate::sql::Call;

/// Which way a range read walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the start key upwards.
    Forward,
    /// From the start key (or the next smaller one) downwards.
    Reverse,
}

/// One request; it borrows its keys and values from the generator that made it.
// `repr(u8)` gives it a tag of its own: the compiler's niche in the kind of a call costs ten
// instructions per operation of the client's loop (141 instead of 131, by callgrind).
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Op<'a> {
    /// Read one key.
    Get {
        /// The key.
        key: &'a [u8],
    },
    /// Insert or overwrite one key.
    Put {
        /// The key.
        key: &'a [u8],
        /// The value.
        value: &'a [u8],
    },
    /// Delete one key; deleting an absent key succeeds.
    Delete {
        /// The key.
        key: &'a [u8],
    },
    /// Read up to `limit` rows from `start` in one direction.
    ///
    /// Forward: the first row is the smallest key >= `start`. Reverse: the largest key <= `start`.
    Scan {
        /// Where to begin.
        start: &'a [u8],
        /// Most rows to return.
        limit: u32,
        /// Which way to walk.
        direction: Direction,
    },
    /// Read several keys in one call; absent keys return no row.
    MultiGet {
        /// The keys.
        keys: &'a [&'a [u8]],
    },
    /// Call a procedure of the application; only SQL servers can.
    Call(Call<'a>),
}

impl Op<'_> {
    /// Returns the operation's kind.
    #[inline]
    pub const fn kind(&self) -> OpKind {
        match self {
            Self::Get { .. } => OpKind::Get,
            Self::Put { .. } => OpKind::Put,
            Self::Delete { .. } => OpKind::Delete,
            Self::Scan { .. } => OpKind::Scan,
            Self::MultiGet { .. } => OpKind::MultiGet,
            Self::Call(call) => call.kind,
        }
    }
}

/// One row of an answer, borrowed from the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRef<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// How an operation that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was done. For reads: at least one row came back.
    Done,
    /// A read found nothing.
    NotFound,
}
