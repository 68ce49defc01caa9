//! The newest documents in memory, ordered by key and by sequence number.

use std::borrow::Borrow;
use std::cmp::Ordering as Order;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_skiplist::{SkipMap, SkipSet};

use crate::document::Document;
use crate::files::StoredFile;

/// Memory of an entry next to its key and value: two nodes and a document, estimated.
const ENTRY_BYTES: usize = 160;

/// A key and the sequence number of one of its versions: the newer one is less.
trait Version {
    fn version(&self) -> (&[u8], u64);
}

impl PartialEq for dyn Version + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl Eq for dyn Version + '_ {}

impl PartialOrd for dyn Version + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn Version + '_ {
    fn cmp(&self, other: &Self) -> Order {
        let ((key, seqno), (other_key, other_seqno)) = (self.version(), other.version());
        key.cmp(other_key).then(other_seqno.cmp(&seqno))
    }
}

/// A version that is searched.
struct Wanted<'a>(&'a [u8], u64);

impl Version for Wanted<'_> {
    fn version(&self) -> (&[u8], u64) {
        (self.0, self.1)
    }
}

/// A document in the order of its key.
struct ByKey(Arc<Document>);

impl Version for ByKey {
    fn version(&self) -> (&[u8], u64) {
        (&self.0.key, self.0.seqno)
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl Eq for ByKey {}

impl PartialOrd for ByKey {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for ByKey {
    fn cmp(&self, other: &Self) -> Order {
        let (one, other): (&dyn Version, &dyn Version) = (self, other);
        one.cmp(other)
    }
}

impl<'a> Borrow<dyn Version + 'a> for ByKey {
    fn borrow(&self) -> &(dyn Version + 'a) {
        self
    }
}

/// The documents of one write-ahead log file.
///
/// All versions stay until the flush, which writes the newest of each key: readers of an older
/// state find theirs.
#[derive(Default)]
pub(crate) struct WriteCache {
    by_key: SkipSet<ByKey>,
    by_seqno: SkipMap<u64, Arc<Document>>,
    bytes: AtomicUsize,
    /// Where the documents are logged.
    pub(crate) wal: Option<Arc<StoredFile>>,
}

impl WriteCache {
    /// Returns an empty cache whose documents are in `wal`.
    pub(crate) fn new(wal: Option<Arc<StoredFile>>) -> Self {
        Self { wal, ..Self::default() }
    }

    /// Adds a version; one thread at a time.
    pub(crate) fn insert(&self, document: Document) {
        let value = document.value.as_ref().map_or(0, |value| value.len());
        self.bytes.fetch_add(ENTRY_BYTES + document.key.len() + value, Ordering::Relaxed);
        let document = Arc::new(document);
        self.by_key.insert(ByKey(Arc::clone(&document)));
        self.by_seqno.insert(document.seqno, document);
    }

    /// Returns the memory in bytes, estimated.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_seqno.is_empty()
    }

    /// Returns the newest version of a key up to `at`.
    pub(crate) fn get(&self, key: &[u8], at: u64) -> Option<Arc<Document>> {
        let wanted: &dyn Version = &Wanted(key, at);
        let found = self.by_key.lower_bound(Bound::Included(wanted))?;
        (*found.value().0.key == *key).then(|| Arc::clone(&found.value().0))
    }

    /// Returns the first document at or after a key, or the last one at or before it, up to `at`.
    pub(crate) fn neighbour(
        &self,
        mut bound: Bound<Box<[u8]>>,
        is_forward: bool,
        at: u64,
    ) -> Option<Arc<Document>> {
        loop {
            // All versions of a key lie between those of the numbers below.
            let (from, is_after) = match &bound {
                Bound::Included(key) => (&**key, !is_forward),
                Bound::Excluded(key) => (&**key, is_forward),
                Bound::Unbounded => return None,
            };
            let wanted: &dyn Version = &Wanted(from, if is_after { 0 } else { u64::MAX });
            let found = if is_forward {
                self.by_key.lower_bound(Bound::Included(wanted))
            } else {
                self.by_key.upper_bound(Bound::Included(wanted))
            };
            let key = found?.value().0.key.clone();
            if let Some(document) = self.get(&key, at) {
                return Some(document);
            }
            bound = Bound::Excluded(key);
        }
    }

    /// Returns the newest version of each key up to `at`, from `from` on, in the order of sequence
    /// numbers.
    pub(crate) fn newest_from(
        &self,
        from: u64,
        at: u64,
    ) -> impl Iterator<Item = Arc<Document>> + '_ {
        let all = self.by_seqno.range(from..=at).map(|entry| Arc::clone(entry.value()));
        all.filter(move |document| {
            self.get(&document.key, at).is_some_and(|newest| newest.seqno == document.seqno)
        })
    }

    /// Returns the first and the last sequence number.
    pub(crate) fn seqnos(&self) -> Option<(u64, u64)> {
        Some((*self.by_seqno.front()?.key(), *self.by_seqno.back()?.key()))
    }

    /// Returns the newest version of each key, in the order of keys.
    pub(crate) fn newest_by_key(&self) -> impl Iterator<Item = Arc<Document>> + '_ {
        let mut last: Option<Arc<Document>> = None;
        self.by_key.iter().filter_map(move |entry| {
            let document = Arc::clone(&entry.value().0);
            let is_first = last.as_ref().is_none_or(|last| last.key != document.key);
            last = Some(Arc::clone(&document));
            is_first.then_some(document)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(writes: &[(&str, Option<&str>)]) -> WriteCache {
        let cache = WriteCache::default();
        for (seqno, (key, value)) in (1..).zip(writes) {
            let value = value.map(|value| value.as_bytes().into());
            cache.insert(Document { seqno, key: key.as_bytes().into(), value });
        }
        cache
    }

    fn number(document: Option<Arc<Document>>) -> Option<u64> {
        document.map(|document| document.seqno)
    }

    #[test]
    fn the_newest_version_up_to_a_number_is_found() {
        let cache = cache(&[("b", Some("1")), ("a", Some("2")), ("b", None), ("ba", Some("4"))]);
        assert_eq!(number(cache.get(b"b", 2)), Some(1));
        assert_eq!(number(cache.get(b"b", 9)), Some(3));
        assert_eq!(number(cache.get(b"ba", 3)), None);
        assert_eq!(number(cache.get(b"c", 9)), None);
    }

    #[test]
    fn neighbours_are_found_both_ways() {
        let cache = cache(&[("b", Some("1")), ("d", Some("2")), ("b", Some("3"))]);
        let key = |key: &str| -> Box<[u8]> { key.as_bytes().into() };
        let next = |bound, at| number(cache.neighbour(bound, true, at));
        let previous = |bound, at| number(cache.neighbour(bound, false, at));
        assert_eq!(next(Bound::Included(key("a")), 9), Some(3));
        assert_eq!(next(Bound::Included(key("b")), 1), Some(1));
        assert_eq!(next(Bound::Excluded(key("b")), 9), Some(2));
        assert_eq!(next(Bound::Excluded(key("b")), 1), None);
        assert_eq!(previous(Bound::Included(key("d")), 9), Some(2));
        assert_eq!(previous(Bound::Included(key("d")), 1), Some(1));
        assert_eq!(previous(Bound::Excluded(key("d")), 9), Some(3));
        assert_eq!(previous(Bound::Excluded(key("b")), 9), None);
    }

    #[test]
    fn superseded_versions_are_in_neither_order_of_newest_ones() {
        let cache = cache(&[("b", Some("1")), ("a", Some("2")), ("b", None)]);
        let by_key: Vec<_> = cache.newest_by_key().map(|document| document.seqno).collect();
        assert_eq!(by_key, [2, 3]);
        let in_order = |from, at| -> Vec<_> {
            cache.newest_from(from, at).map(|document| document.seqno).collect()
        };
        assert_eq!(
            (in_order(1, 9), in_order(1, 2), in_order(3, 9)),
            (vec![2, 3], vec![1, 2], vec![3])
        );
    }
}
