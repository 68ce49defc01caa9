//! Operations on one picked row: reads, range reads, writes and deletes.

use engine::Rows;
use model::{Direction, Op};

use super::client::Client;
use super::position::Position;
use crate::answer::AnswerChecker;
use crate::distribution::Picker;
use crate::generator::{Generator, WrongAnswer};
use crate::key::KeyBuffer;
use crate::value::ValueWriter;

/// One operation per picked row.
#[derive(Debug)]
pub struct Single<A> {
    picker: Picker,
    pub(super) position: Position,
    key: KeyBuffer,
    row_action: A,
}

/// The operation on a picked row, and the check of its answer.
pub trait RowAction: Send + 'static {
    /// Whether there are rows to check; the reads that follow a write check its row.
    const IS_CHECKED: bool = true;

    /// Returns operation `n`, on the row `id` of this key.
    fn op<'a>(&'a mut self, key: &'a [u8], id: u64, n: u64) -> Op<'a>;

    /// Checks the answer to the operation on this key.
    fn check(&self, _key: &[u8], _rows: &Rows) -> Result<u64, WrongAnswer> {
        Ok(0)
    }
}

impl<A: RowAction> Single<A> {
    /// Returns operations on the picked rows.
    pub(super) fn new(picker: Picker, client: &Client<'_>, row_action: A) -> Self {
        let key = KeyBuffer::new(client.data.key_bytes);
        Self { picker, position: client.position(), key, row_action }
    }
}

impl Single<GetsAbsent> {
    /// Returns reads of keys that lie next to the picked rows and were never written.
    pub(super) fn absent(picker: Picker, client: &Client<'_>) -> Self {
        let key = KeyBuffer::absent(client.data.key_bytes);
        Self { picker, position: client.position(), key, row_action: GetsAbsent }
    }
}

impl<A: RowAction> Generator for Single<A> {
    // Always: a loop that is compiled for this type and calls it gains nothing.
    #[inline(always)]
    fn next(&mut self) -> Option<Op<'_>> {
        let n = self.position.advance()?;
        let id = self.picker.pick(self.position.stream, n);
        Some(self.row_action.op(self.key.set(id), id, n))
    }

    fn unchecked(&self) -> u64 {
        if A::IS_CHECKED { self.position.unchecked() } else { u64::MAX }
    }

    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer> {
        self.row_action.check(self.key.bytes(), rows)
    }
}

/// Point reads of rows that may be present.
pub type PointReads = Single<Gets>;
/// Range reads.
pub type RangeReads = Single<Scans>;
/// Writes of rows.
pub type Writes = Single<ValueWriter>;

/// Reads a row that may be present.
pub struct Gets(pub(super) AnswerChecker);

impl RowAction for Gets {
    #[inline]
    fn op<'a>(&'a mut self, key: &'a [u8], _id: u64, _n: u64) -> Op<'a> {
        Op::Get { key }
    }

    fn check(&self, key: &[u8], rows: &Rows) -> Result<u64, WrongAnswer> {
        self.0.point(key, rows)
    }
}

/// Reads a key that was never written.
pub(super) struct GetsAbsent;

impl RowAction for GetsAbsent {
    #[inline]
    fn op<'a>(&'a mut self, key: &'a [u8], _id: u64, _n: u64) -> Op<'a> {
        Op::Get { key }
    }

    fn check(&self, key: &[u8], rows: &Rows) -> Result<u64, WrongAnswer> {
        AnswerChecker::absent(key, rows)
    }
}

/// Reads so many rows from the picked one on.
pub struct Scans(pub(super) u32, pub(super) Direction, pub(super) AnswerChecker);

impl RowAction for Scans {
    #[inline]
    fn op<'a>(&'a mut self, start: &'a [u8], _id: u64, _n: u64) -> Op<'a> {
        Op::Scan { start, limit: self.0, direction: self.1 }
    }

    fn check(&self, key: &[u8], rows: &Rows) -> Result<u64, WrongAnswer> {
        self.2.range(key, self.0, self.1, rows)
    }
}

impl RowAction for ValueWriter {
    const IS_CHECKED: bool = false;

    #[inline]
    fn op<'a>(&'a mut self, key: &'a [u8], id: u64, n: u64) -> Op<'a> {
        Op::Put { key, value: self.value(id, n) }
    }
}

/// Deletes a row; it may already be gone.
pub(super) struct Deletes;

impl RowAction for Deletes {
    const IS_CHECKED: bool = false;

    #[inline]
    fn op<'a>(&'a mut self, key: &'a [u8], _id: u64, _n: u64) -> Op<'a> {
        Op::Delete { key }
    }
}
