//! Short range reads.

use engine::Rows;
use model::{Direction, Op};

use super::client::Client;
use super::position::Position;
use crate::answer::AnswerChecker;
use crate::distribution::Picker;
use crate::generator::{Generator, WrongAnswer};
use crate::key::KeyBuffer;

/// Reads a range per operation, from the picked row on.
#[derive(Debug)]
pub(super) struct Scans<P> {
    picker: P,
    pub(super) position: Position,
    key: KeyBuffer,
    limit: u32,
    direction: Direction,
    checker: AnswerChecker,
}

impl<P: Picker> Scans<P> {
    /// Returns reads of `client.range_rows` rows each.
    pub(super) fn new(picker: P, client: &Client<'_>, direction: Direction) -> Self {
        Self {
            picker,
            position: client.position(),
            key: KeyBuffer::new(client.data.key_bytes),
            limit: client.range_rows,
            direction,
            checker: client.checker(),
        }
    }
}

impl<P: Picker> Generator for Scans<P> {
    #[inline]
    fn next(&mut self) -> Option<Op<'_>> {
        let n = self.position.advance()?;
        let id = self.picker.pick(self.position.stream, n);
        let (limit, direction) = (self.limit, self.direction);
        Some(Op::Scan { start: self.key.set(id), limit, direction })
    }

    fn unchecked(&self) -> u64 {
        self.position.unchecked()
    }

    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer> {
        self.checker.range(self.key.bytes(), (self.limit, self.direction), rows)
    }
}
