//! Point reads of keys that may be present, or never are.

use engine::Rows;
use model::Op;

use super::client::Client;
use super::position::Position;
use crate::answer::AnswerChecker;
use crate::distribution::Picker;
use crate::generator::{Generator, WrongAnswer};
use crate::key::KeyBuffer;

/// Reads one key per operation.
#[derive(Debug)]
pub(super) struct Gets<P> {
    picker: P,
    pub(super) position: Position,
    key: KeyBuffer,
    checker: Option<AnswerChecker>,
}

impl<P: Picker> Gets<P> {
    /// Returns reads of the keys that the picked rows have.
    pub(super) fn present(picker: P, client: &Client<'_>) -> Self {
        let key = KeyBuffer::new(client.data.key_bytes);
        Self { picker, position: client.position(), key, checker: Some(client.checker()) }
    }

    /// Returns reads of keys that lie next to the picked rows and were never written.
    pub(super) fn absent(picker: P, client: &Client<'_>) -> Self {
        let key = KeyBuffer::absent(client.data.key_bytes);
        Self { picker, position: client.position(), key, checker: None }
    }
}

impl<P: Picker> Generator for Gets<P> {
    #[inline]
    fn next(&mut self) -> Option<Op<'_>> {
        let n = self.position.advance()?;
        let id = self.picker.pick(self.position.stream, n);
        Some(Op::Get { key: self.key.set(id) })
    }

    fn unchecked(&self) -> u64 {
        self.position.unchecked()
    }

    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer> {
        match &self.checker {
            Some(checker) => checker.point(self.key.bytes(), rows),
            None => AnswerChecker::absent(self.key.bytes(), rows),
        }
    }
}
