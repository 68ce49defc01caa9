//! A client of a step: action, randomness, rows.

use std::sync::Arc;

use model::{DataShape, Direction, OpKind};

use crate::answer::AnswerChecker;
use crate::random::Stream;
use crate::request::Presence;
use crate::stream::position::Position;
use crate::value::Bodies;

/// The operation of a client on every row it picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Reads the row.
    Get,
    /// Reads a key next to the row's, which was never written.
    GetAbsent,
    /// Reads it together with others.
    MultiGet,
    /// Reads a range that starts at it.
    Scan(Direction),
    /// Writes it.
    Put,
    /// Deletes it.
    Delete,
    /// Replaces bytes of its value.
    PartialUpdate,
    /// Reads bytes of its value.
    FieldRead,
    /// Lengthens its value.
    Append,
    /// Reads rows from the sequence number on that a load in key order gives it.
    ScanSequence,
}

impl Action {
    /// Returns the kind of the operations.
    pub(crate) const fn kind(self) -> OpKind {
        match self {
            Self::Get | Self::GetAbsent => OpKind::Get,
            Self::MultiGet => OpKind::MultiGet,
            Self::Scan(_) => OpKind::Scan,
            Self::Put => OpKind::Put,
            Self::Delete => OpKind::Delete,
            Self::PartialUpdate => OpKind::PartialUpdate,
            Self::FieldRead => OpKind::FieldRead,
            Self::Append => OpKind::Append,
            Self::ScanSequence => OpKind::ScanSequence,
        }
    }
}

/// One client of a step, before its generator is built.
#[derive(Debug, Clone)]
pub(crate) struct Client<'a> {
    /// What it does.
    pub(crate) action: Action,
    /// Its randomness.
    pub(crate) stream: Stream,
    /// Operations after which it ends; `u64::MAX` when it ends by duration.
    pub(crate) operations: u64,
    /// The rows.
    pub(crate) data: &'a DataShape,
    /// Which of them are known to be there.
    pub(crate) presence: Presence,
    /// The bodies of their values, shared with the other clients.
    pub(crate) bodies: Arc<Bodies>,
    /// Rows of a range read.
    pub(crate) range_rows: u32,
    /// Keys of a `multi_get`.
    pub(crate) batch_keys: u32,
    /// Bytes of a part of a value.
    pub(crate) field_bytes: u32,
}

impl Client<'_> {
    /// Returns the place before the first operation.
    pub(super) const fn position(&self) -> Position {
        Position::new(self.stream, self.operations)
    }

    /// Returns the checker of its answers.
    pub(super) fn checker(&self) -> AnswerChecker {
        AnswerChecker::new(self.data, self.presence, Arc::clone(&self.bodies))
    }
}
