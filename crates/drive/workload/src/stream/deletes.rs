//! Deletes.

use engine::Rows;
use model::Op;

use super::client::Client;
use super::position::Position;
use crate::distribution::Picker;
use crate::generator::{Generator, WrongAnswer};
use crate::key::KeyBuffer;

/// Deletes one row per operation; it may already be gone.
#[derive(Debug)]
pub(super) struct Deletes<P> {
    picker: P,
    pub(super) position: Position,
    key: KeyBuffer,
}

impl<P: Picker> Deletes<P> {
    /// Returns deletes of the picked rows.
    pub(super) fn new(picker: P, client: &Client<'_>) -> Self {
        let key = KeyBuffer::new(client.data.key_bytes);
        Self { picker, position: client.position(), key }
    }
}

impl<P: Picker> Generator for Deletes<P> {
    #[inline]
    fn next(&mut self) -> Option<Op<'_>> {
        let n = self.position.advance()?;
        let id = self.picker.pick(self.position.stream, n);
        Some(Op::Delete { key: self.key.set(id) })
    }

    /// Returns no end: a delete has no rows to check.
    fn unchecked(&self) -> u64 {
        u64::MAX
    }

    fn check(&mut self, _rows: &Rows) -> Result<u64, WrongAnswer> {
        Ok(0)
    }
}
