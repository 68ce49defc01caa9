//! The rows of the `memory` engine, by key and by sequence number.

use std::collections::BTreeMap;

/// Rows, each with the sequence number of its newest write.
#[derive(Default)]
pub(super) struct Table {
    /// Sequence number and value of each key.
    pub(super) by_key: BTreeMap<Vec<u8>, (u64, Vec<u8>)>,
    /// The key whose newest write has this number.
    pub(super) by_sequence: BTreeMap<u64, Vec<u8>>,
    /// The number of the newest write or delete; 0 before the first.
    pub(super) last: u64,
}

impl Table {
    /// Returns the value of `key`.
    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.by_key.get(key).map(|(_, value)| value.as_slice())
    }

    /// Writes a row as number `sequence`; a value of `None` deletes it.
    pub(super) fn write(&mut self, sequence: u64, key: &[u8], value: Option<&[u8]>) {
        let before = match value {
            Some(value) => {
                self.by_sequence.insert(sequence, key.to_vec());
                self.by_key.insert(key.to_vec(), (sequence, value.to_vec()))
            }
            None => self.by_key.remove(key),
        };
        if let Some((before, _)) = before {
            self.by_sequence.remove(&before);
        }
        self.last = self.last.max(sequence);
    }
}
