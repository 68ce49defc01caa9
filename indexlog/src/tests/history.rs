//! Histories of batches, and what they leave.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{Database, Write};

/// One write: key and value, or a deletion.
pub(super) type Change = (Vec<u8>, Option<Vec<u8>>);

/// What a database holds: the value of each key and the number of its newest version.
pub(super) type Model = BTreeMap<Vec<u8>, (u64, Vec<u8>)>;

/// What a client does.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Write(Vec<Change>),
    Flush,
    CompactIndex,
    CompactAll,
    Collect,
    Reopen,
}

/// Few keys, so that many are overwritten; some a prefix of others, one value longer than a block.
fn change() -> impl Strategy<Value = Change> {
    let key = (0_u8..40, 0_usize..3)
        .prop_map(|(number, more)| [&[b'k', number][..], &vec![0xff; more][..]].concat());
    let value = (any::<u8>(), prop_oneof![9 => 0_usize..300, 1 => 4_000_usize..9_000])
        .prop_map(|(byte, bytes)| vec![byte; bytes]);
    (key, prop_oneof![4 => value.prop_map(Some), 1 => Just(None)])
}

/// Histories in which writes are most frequent.
pub(super) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let write = prop::collection::vec(change(), 1..6).prop_map(Step::Write);
    let step = prop_oneof![
        60 => write,
        3 => Just(Step::Flush),
        3 => Just(Step::CompactIndex),
        1 => Just(Step::CompactAll),
        3 => Just(Step::Collect),
        2 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..most)
}

/// Writes a batch to a database; returns its last sequence number.
pub(super) fn write(database: &Database, batch: &[Change]) -> crate::Result<u64> {
    let writes: Vec<Write<'_>> =
        batch.iter().map(|(key, value)| Write { key, value: value.as_deref() }).collect();
    database.write(&writes)
}

/// Applies a batch that began at a sequence number to a model.
pub(super) fn apply(model: &mut Model, first: u64, batch: &[Change]) {
    for (seqno, (key, value)) in (first..).zip(batch) {
        match value {
            Some(value) => model.insert(key.clone(), (seqno, value.clone())),
            None => model.remove(key),
        };
    }
}

/// Returns what a scan of everything finds, with the numbers that the change feed has.
pub(super) fn content(database: &Database) -> Model {
    try_content(database).unwrap()
}

/// As [`content`], of files that cannot be read as well.
pub(super) fn try_content(database: &Database) -> crate::Result<Model> {
    let mut rows = BTreeMap::new();
    database.scan(&[], true, usize::MAX, |key, value| {
        assert!(rows.insert(key.to_vec(), value.to_vec()).is_none(), "{key:?} twice");
    })?;
    let mut numbers = BTreeMap::new();
    let mut before = 0;
    database.scan_sequence(0, usize::MAX, |seqno, key, value| {
        assert!(seqno > before, "{seqno} after {before}");
        before = seqno;
        let is_once = numbers.insert(key.to_vec(), (seqno, value.to_vec())).is_none();
        assert!(is_once, "the change feed has {key:?} twice");
    })?;
    assert_eq!(numbers.len(), rows.len(), "the change feed has every document and no other");
    let with_number = |(key, value): (Vec<u8>, Vec<u8>)| {
        let (seqno, newest) =
            numbers.get(&key).expect("the change feed has every document").clone();
        assert_eq!(newest, value, "the change feed ends with the newest version of {key:?}");
        (key, (seqno, value))
    };
    Ok(rows.into_iter().map(with_number).collect())
}
