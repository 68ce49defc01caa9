//! What holds for every state of the files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::caches::Caches;
use crate::document::{StoredDocument, documents};
use crate::index::{Item, Levels, Merge};
use crate::shared::Shared;
use crate::version::Version;

/// Checks the files of a database against each other.
pub(super) fn check(shared: &Shared) {
    let version = Arc::clone(&shared.view().version);
    let caches = &shared.background_caches;
    let stored = stored_documents(&version, caches);
    let indexed = indexed_documents(&version, caches, &stored);
    let deleted = deleted_documents(&version, caches);
    // A document is in the index or on the delete list, never in both or neither.
    for (seqno, (_, key)) in &stored {
        let is_in_one = indexed.contains(seqno) != deleted.contains(seqno);
        assert!(is_in_one, "{seqno} of {key:?} has leaked, or is deleted and in the index");
    }
    assert!(deleted.iter().all(|seqno| stored.contains_key(seqno)), "garbage without a document");
    for segment in &version.segments {
        let of = |seqno: &&u64| stored.get(seqno).is_some_and(|it| it.0 == segment.record.id);
        let garbage = deleted.iter().filter(of).count() as u64;
        assert_eq!(segment.record.garbage.documents, garbage, "{:?}", segment.record);
    }
}

/// Segment and key of each sequence number.
type Stored = BTreeMap<u64, (u64, Vec<u8>)>;

/// Ranges of segments do not overlap; documents ascend, in the blocks as in the tree.
fn stored_documents(version: &Version, caches: &Caches) -> Stored {
    let mut stored = BTreeMap::new();
    let mut last = 0;
    for segment in &version.segments {
        let record = &segment.record;
        assert!(record.min_seqno > last || last == 0, "{record:?} begins before {last}");
        assert!(record.max_seqno >= record.min_seqno && record.max_seqno <= version.flushed);
        last = record.max_seqno;
        let (mut before, mut count, mut bytes) = (0, 0, 0);
        for block in segment.blocks_from(0, caches) {
            for document in documents(&block.unwrap().0) {
                let StoredDocument { seqno, key, value } = document;
                assert!(seqno > before && (record.min_seqno..=record.max_seqno).contains(&seqno));
                before = seqno;
                count += 1;
                bytes += (key.len() + value.len()) as u64;
                let found = segment.get(seqno, caches).unwrap().expect("the tree finds it");
                assert_eq!((&*found.key, found.value.as_deref()), (key, Some(value)));
                stored.insert(seqno, (record.id, key.to_vec()));
            }
        }
        assert_eq!((count, bytes), (record.documents, record.document_bytes));
    }
    stored
}

/// Every tuple of the index that is no deletion has its document.
fn indexed_documents(version: &Version, caches: &Arc<Caches>, stored: &Stored) -> BTreeSet<u64> {
    let index = items(&version.index, caches);
    let mut newest = BTreeMap::new();
    for Item { tuple, .. } in &index {
        let newest = newest.entry(tuple.key.clone()).or_insert(tuple.seqno);
        assert_eq!(version.index.get(&tuple.key, caches).unwrap().unwrap().seqno, *newest);
        if !tuple.is_deletion {
            let (_, key) = stored.get(&tuple.seqno).expect("its document");
            assert_eq!(**key, *tuple.key);
        }
    }
    index.iter().map(|item| item.tuple.seqno).collect()
}

/// No document is on the delete list twice.
fn deleted_documents(version: &Version, caches: &Arc<Caches>) -> BTreeSet<u64> {
    let mut deleted = BTreeSet::new();
    for Item { tuple, table, .. } in items(&version.deletes, caches) {
        if !version.is_purged(tuple.seqno, table) {
            assert!(deleted.insert(tuple.seqno), "{} is deleted twice", tuple.seqno);
        }
    }
    deleted
}

fn items(levels: &Levels, caches: &Arc<Caches>) -> Vec<Item> {
    let sources = levels.sources(Bound::Unbounded, true, caches).unwrap();
    Merge::new(sources, true).unwrap().map(Result::unwrap).collect()
}
