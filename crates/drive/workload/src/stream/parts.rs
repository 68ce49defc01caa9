//! Operations on parts of values, and reads by sequence number.

use std::sync::Arc;

use engine::Rows;
use model::Op;

use super::client::Client;
use super::single::RowAction;
use crate::answer::AnswerChecker;
use crate::generator::WrongAnswer;
use crate::key::{ID_BYTES, length};
use crate::random::{Stream, below};
use crate::value::{Bodies, HEADER, tail};

/// Names the branch of a client's stream that its offsets come from.
const OFFSETS: u64 = 2;

/// Draws where a part of a value begins: anywhere behind the header, uniformly.
struct Offsets {
    stream: Stream,
    places: u64,
}

impl Offsets {
    fn new(client: &Client<'_>) -> Self {
        let bytes = u64::from(client.data.value_bytes) - HEADER as u64;
        let places = bytes - u64::from(client.field_bytes) + 1;
        Self { stream: client.stream.branch(OFFSETS), places }
    }

    /// Returns the offset of operation `n`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below the bytes of a value")]
    const fn offset(&self, n: u64) -> u32 {
        HEADER as u32 + below(self.stream.word(n), self.places) as u32
    }
}

/// Replaces bytes of a row's value.
pub(super) struct PartialUpdates {
    offsets: Offsets,
    field_bytes: usize,
    bodies: Arc<Bodies>,
}

impl PartialUpdates {
    pub(super) fn new(client: &Client<'_>) -> Self {
        let bodies = Arc::clone(&client.bodies);
        Self { offsets: Offsets::new(client), field_bytes: length(client.field_bytes), bodies }
    }
}

impl RowAction for PartialUpdates {
    const IS_CHECKED: bool = false;

    #[inline]
    fn op<'a>(&'a mut self, key: &'a [u8], id: u64, n: u64) -> Op<'a> {
        let offset = self.offsets.offset(n);
        let bytes = &self.bodies.replacement(id)[length(offset)..][..self.field_bytes];
        Op::PartialUpdate { key, offset, bytes }
    }
}

/// Reads bytes of a row's value.
pub(super) struct FieldReads {
    offsets: Offsets,
    field_bytes: u32,
    /// Where the last read began.
    offset: u32,
    checker: AnswerChecker,
}

impl FieldReads {
    pub(super) fn new(client: &Client<'_>) -> Self {
        let (offsets, field_bytes) = (Offsets::new(client), client.field_bytes);
        Self { offsets, field_bytes, offset: 0, checker: client.checker() }
    }
}

impl RowAction for FieldReads {
    #[inline]
    fn op<'a>(&'a mut self, key: &'a [u8], _id: u64, n: u64) -> Op<'a> {
        self.offset = self.offsets.offset(n);
        Op::FieldRead { key, offset: self.offset, length: self.field_bytes }
    }

    fn check(&self, key: &[u8], rows: &Rows) -> Result<u64, WrongAnswer> {
        self.checker.field(key, self.offset, self.field_bytes, rows)
    }
}

/// Lengthens a row's value.
pub(super) struct Appends(Box<[u8]>);

impl Appends {
    pub(super) fn new(client: &Client<'_>) -> Self {
        Self(vec![0; length(client.field_bytes)].into_boxed_slice())
    }
}

impl RowAction for Appends {
    const IS_CHECKED: bool = false;

    #[inline]
    fn op<'a>(&'a mut self, key: &'a [u8], id: u64, _n: u64) -> Op<'a> {
        self.0.fill(tail(id));
        Op::Append { key, bytes: &self.0 }
    }
}

/// Reads so many rows from the picked row's number in a load in key order on.
pub(super) struct NewestRows(u32, AnswerChecker);

impl NewestRows {
    pub(super) fn new(client: &Client<'_>) -> Self {
        Self(client.range_rows, client.checker())
    }
}

impl RowAction for NewestRows {
    #[inline]
    fn op<'a>(&'a mut self, _key: &'a [u8], id: u64, _n: u64) -> Op<'a> {
        Op::ScanSequence { from: id + 1, limit: self.0 }
    }

    fn check(&self, key: &[u8], rows: &Rows) -> Result<u64, WrongAnswer> {
        let id = key.first_chunk::<ID_BYTES>().map_or(0, |id| u64::from_be_bytes(*id));
        self.1.newest(id + 1, self.0, rows)
    }
}
