//! The changes of one client: change n is a function of seed, client and n.
//!
//! A client has its own keys, numbered by slot. Half as many slots as changes are in use, so a
//! row is written twice on average. A value begins with the number of the change that wrote it,
//! and all of its bytes follow from that number: a reader knows what it must be.

use model::DataShape;
use workload::random::{Stream, below};

/// Of so many changes one is a delete. Our choice: enough to find deleted rows that return.
const DELETE_EVERY: u64 = 8;

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// The row, counted per client.
    pub(crate) slot: u64,
    /// Whether the row is deleted; else it is written.
    pub(crate) is_delete: bool,
}

/// The changes of one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct History {
    client: u32,
    slots: Stream,
    kinds: Stream,
    bodies: Stream,
    value_bytes: usize,
    key_bytes: usize,
}

impl History {
    /// Returns the changes of a client.
    pub(crate) fn new(seed: u64, client: u32, data: &DataShape) -> Self {
        let own = Stream::fixed(seed).branch(u64::from(client));
        Self {
            client,
            slots: own.branch(0),
            kinds: own.branch(1),
            bodies: own.branch(2),
            value_bytes: data.value_bytes as usize,
            key_bytes: data.key_bytes as usize,
        }
    }

    /// Returns change `n`.
    pub(crate) const fn change(&self, n: u64) -> Change {
        let slot = below(self.slots.word(n), n / 2 + 1);
        Change { slot, is_delete: below(self.kinds.word(n), DELETE_EVERY) == 0 }
    }

    /// Writes the key of a row: client and slot, big-endian, so that clients have ranges.
    pub(crate) fn write_key(&self, slot: u64, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(&self.client.to_be_bytes());
        key.resize(self.key_bytes - 8, 0);
        key.extend_from_slice(&slot.to_be_bytes());
    }

    /// Writes the value of change `n`.
    pub(crate) fn write_value(&self, n: u64, value: &mut Vec<u8>) {
        value.clear();
        value.extend_from_slice(&n.to_le_bytes());
        let body = self.bodies.branch(n);
        let mut bytes = (0..).map(|at| body.word(at).to_le_bytes());
        while value.len() < self.value_bytes {
            value.extend(bytes.next().into_iter().flatten());
        }
        value.truncate(self.value_bytes);
    }
}

/// Returns client and slot of a key; `None` for a key that no client has.
pub(crate) fn parse_key(key: &[u8]) -> Option<(u32, u64)> {
    let (client, rest) = key.split_first_chunk()?;
    let (padding, slot) = rest.split_last_chunk()?;
    let is_padded = padding.iter().all(|byte| *byte == 0);
    is_padded.then(|| (u32::from_be_bytes(*client), u64::from_be_bytes(*slot)))
}

/// Returns the number of the change that wrote a value; `None` for one that is too short.
pub(crate) fn change_of(value: &[u8]) -> Option<u64> {
    value.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
pub(crate) const TEST_DATA: DataShape =
    DataShape { rows: 1000, key_bytes: 16, value_bytes: 100, compressible_to: 1.0 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_and_a_key_state_what_wrote_them() {
        let history = History::new(7, 3, &TEST_DATA);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        history.write_key(0x0123, &mut key);
        history.write_value(41, &mut value);
        assert_eq!((key.len(), value.len()), (16, 100));
        assert_eq!(parse_key(&key), Some((3, 0x0123)));
        assert_eq!(change_of(&value), Some(41));
        let mut other = Vec::new();
        History::new(7, 4, &TEST_DATA).write_value(41, &mut other);
        assert_ne!(value, other);
    }

    #[test]
    fn rows_are_written_again_and_deleted() {
        let history = History::new(7, 0, &TEST_DATA);
        let changes: Vec<_> = (0..4_000).map(|n| history.change(n)).collect();
        let slots: std::collections::BTreeSet<_> = changes.iter().map(|it| it.slot).collect();
        let deletes = changes.iter().filter(|it| it.is_delete).count();
        assert!((900..2_000).contains(&slots.len()), "{}", slots.len());
        assert!((400..600).contains(&deletes), "{deletes}");
        assert_eq!(changes[17], History::new(7, 0, &TEST_DATA).change(17));
    }
}
