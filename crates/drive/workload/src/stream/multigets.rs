//! Reads of several keys in one call.

use bumpalo::Bump;
use engine::Rows;
use model::Op;

use super::client::Client;
use super::position::Position;
use crate::answer::AnswerChecker;
use crate::distribution::Picker;
use crate::generator::{Generator, WrongAnswer};
use crate::key::{KeyBuffer, length, write_id};

/// Reads a batch of keys per operation, each picked on its own; a batch may name a key twice.
#[derive(Debug)]
pub(super) struct MultiGets {
    picker: Picker,
    pub(super) position: Position,
    /// The keys of the last batch, one behind the other.
    keys: Vec<u8>,
    key_bytes: usize,
    /// The references to the keys: a struct cannot borrow from itself, an arena can.
    references: Bump,
    found: Vec<bool>,
    checker: AnswerChecker,
}

impl MultiGets {
    /// Returns reads of `client.batch_keys` picked rows each.
    pub(super) fn new(picker: Picker, client: &Client<'_>) -> Self {
        let batch_keys = length(client.batch_keys);
        let key = KeyBuffer::new(client.data.key_bytes);
        Self {
            picker,
            position: client.position(),
            keys: key.bytes().repeat(batch_keys),
            key_bytes: key.bytes().len(),
            references: Bump::with_capacity(batch_keys * size_of::<&[u8]>()),
            found: vec![false; batch_keys],
            checker: client.checker(),
        }
    }
}

impl Generator for MultiGets {
    #[inline]
    fn next(&mut self) -> Option<Op<'_>> {
        let first = self.position.advance()?.wrapping_mul(self.found.len() as u64);
        for (n, key) in (0..).zip(self.keys.chunks_exact_mut(self.key_bytes)) {
            write_id(key, self.picker.pick(self.position.stream, first.wrapping_add(n)));
        }
        // Nothing is freed or allocated: the arena's one chunk is used again.
        self.references.reset();
        let keys = self.keys.chunks_exact(self.key_bytes);
        Some(Op::MultiGet { keys: self.references.alloc_slice_fill_iter(keys) })
    }

    fn unchecked(&self) -> u64 {
        self.position.unchecked()
    }

    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer> {
        self.checker.batch(self.keys.chunks_exact(self.key_bytes), &mut self.found, rows)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::DataShape;

    use super::*;
    use crate::distribution::{Access, Space, Uniform};
    use crate::random::Stream;
    use crate::request::Presence;
    use crate::stream::Action;
    use crate::value::Bodies;

    #[test]
    fn batches_allocate_nothing() {
        for batch_keys in [1, 10, 1000] {
            let data = DataShape { rows: 500, key_bytes: 20, value_bytes: 8, compressible_to: 0.5 };
            let client = Client {
                action: Action::MultiGet,
                stream: Stream::fixed(1),
                operations: u64::MAX,
                data: &data,
                presence: Presence::Some,
                bodies: Arc::new(Bodies::new(&data)),
                range_rows: 1,
                batch_keys,
                field_bytes: 8,
            };
            let space = Space { rows: 500, access: Access::Point, first: 0 };
            let keys = Picker::Uniform(Uniform::new(space));
            let mut batches = MultiGets::new(keys, &client);
            let before = batches.references.allocated_bytes();
            (0..1000).for_each(|_| assert!(batches.next().is_some()));
            assert_eq!(batches.references.allocated_bytes(), before, "{batch_keys} keys");
        }
    }
}
