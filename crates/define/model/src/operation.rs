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
    /// Replace bytes of a value; its length stays.
    ///
    /// An absent key is [`Outcome::NotFound`], and nothing is written. Bytes beyond the end of the
    /// value are an error.
    PartialUpdate {
        /// The key.
        key: &'a [u8],
        /// The first byte of the value to replace.
        offset: u32,
        /// What replaces them.
        bytes: &'a [u8],
    },
    /// Read some bytes of a value: one row of the key and these bytes.
    ///
    /// Bytes beyond the end of the value are an error.
    FieldRead {
        /// The key.
        key: &'a [u8],
        /// The first byte of the value to read.
        offset: u32,
        /// How many bytes to read.
        length: u32,
    },
    /// Lengthen a value.
    ///
    /// An absent key is [`Outcome::NotFound`], and nothing is written.
    Append {
        /// The key.
        key: &'a [u8],
        /// What is written behind the value's last byte.
        bytes: &'a [u8],
    },
    /// Read up to `limit` rows in the order of their newest writes, from a sequence number on.
    ///
    /// Every write and delete has a sequence number, counted from 1 in an empty engine; a row has
    /// that of its newest write.
    ScanSequence {
        /// The smallest sequence number to return.
        from: u64,
        /// Most rows to return.
        limit: u32,
    },
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
            Self::PartialUpdate { .. } => OpKind::PartialUpdate,
            Self::FieldRead { .. } => OpKind::FieldRead,
            Self::Append { .. } => OpKind::Append,
            Self::ScanSequence { .. } => OpKind::ScanSequence,
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
    /// A read, or a change of a part of a value, found nothing.
    NotFound,
    /// A call rolled its transaction back, as its procedure requires.
    RolledBack,
}
