//! What holds for every state of the files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::document::documents;
use crate::index::{Item, Merge};
use crate::shared::Shared;

/// Checks the files of a database against each other.
pub(super) fn check(shared: &Shared) {
    let version = Arc::clone(&shared.view().version);
    let caches = &shared.background_caches;
    // Ranges of segments do not overlap; documents ascend, in the blocks as in the tree.
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
                let seqno = document.seqno;
                assert!(seqno > before && (record.min_seqno..=record.max_seqno).contains(&seqno));
                before = seqno;
                count += 1;
                bytes += (document.key.len() + document.value.len()) as u64;
                let found = segment.get(seqno, caches).unwrap().expect("the tree finds it");
                assert_eq!((&*found.key, found.value.as_deref()), (document.key, Some(document.value)));
                stored.insert(seqno, (segment.record.id, document.key.to_vec()));
            }
        }
        assert_eq!((count, bytes), (record.documents, record.document_bytes));
    }
    let all = |levels: &crate::index::Levels| -> Vec<Item> {
        let sources = levels.sources(Bound::Unbounded, true, caches).unwrap();
        Merge::new(sources, true).unwrap().map(Result::unwrap).collect()
    };
    // Every tuple that is no deletion has its document.
    let index = all(&version.index);
    let mut newest = BTreeMap::new();
    for Item { tuple, .. } in &index {
        newest.entry(tuple.key.clone()).or_insert(tuple.seqno);
        assert_eq!(version.index.get(&tuple.key, caches).unwrap().unwrap().seqno, newest[&tuple.key]);
        if !tuple.is_deletion {
            let (_, key) = stored.get(&tuple.seqno).expect("its document");
            assert_eq!(**key, *tuple.key);
        }
    }
    // No document on the delete list is in the index, and none is there twice.
    let indexed: BTreeSet<u64> = index.iter().map(|item| item.tuple.seqno).collect();
    let mut deleted = BTreeSet::new();
    for item in all(&version.deletes) {
        if !version.is_purged(item.tuple.seqno, item.table) {
            assert!(!indexed.contains(&item.tuple.seqno), "{} is in the index", item.tuple.seqno);
            assert!(deleted.insert(item.tuple.seqno), "{} is deleted twice", item.tuple.seqno);
        }
    }
    // A document is in the index or on the list, and the counters of garbage say so.
    for (seqno, (_, key)) in &stored {
        let is_in_one = indexed.contains(seqno) != deleted.contains(seqno);
        assert!(is_in_one, "{seqno} of {key:?} has leaked");
    }
    for segment in &version.segments {
        let of = |seqno: &&u64| stored.get(seqno).is_some_and(|it| it.0 == segment.record.id);
        let garbage = deleted.iter().filter(of).count() as u64;
        assert_eq!(segment.record.garbage.documents, garbage, "{:?}", segment.record);
    }
    assert!(deleted.iter().all(|seqno| stored.contains_key(seqno)), "garbage without a document");
}
