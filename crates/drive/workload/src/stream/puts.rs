//! Inserts and overwrites.

use engine::Rows;
use model::Op;

use super::client::Client;
use super::position::Position;
use crate::distribution::Picker;
use crate::generator::{Generator, WrongAnswer};
use crate::key::KeyBuffer;
use crate::value::ValueWriter;

/// Writes one row per operation, with a value no other write has.
#[derive(Debug)]
pub(super) struct Puts<P> {
    picker: P,
    pub(super) position: Position,
    key: KeyBuffer,
    values: ValueWriter,
}

impl<P: Picker> Puts<P> {
    /// Returns writes of the picked rows.
    pub(super) fn new(picker: P, client: &Client<'_>) -> Self {
        Self {
            picker,
            position: client.position(),
            key: KeyBuffer::new(client.data.key_bytes),
            values: ValueWriter::new(&client.bodies, client.stream),
        }
    }
}

impl<P: Picker> Generator for Puts<P> {
    #[inline]
    fn next(&mut self) -> Option<Op<'_>> {
        let n = self.position.advance()?;
        let id = self.picker.pick(self.position.stream, n);
        Some(Op::Put { key: self.key.set(id), value: self.values.value(id, n) })
    }

    /// Returns no end: a write has no rows to check; the reads that follow check the row.
    fn unchecked(&self) -> u64 {
        u64::MAX
    }

    fn check(&mut self, _rows: &Rows) -> Result<u64, WrongAnswer> {
        Ok(0)
    }
}
