//! Reads of clients: write caches, then index and log.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::document::{Document, StoredDocument, documents};
use crate::error::Result;
use crate::index::{Item, Merge, Source, Tuple};
use crate::shared::{Shared, View};
use crate::version::Version;
use crate::write_cache::WriteCache;

/// Takes sequence number, key and value of a document.
type SequenceRow<'a> = &'a mut dyn FnMut(u64, &[u8], &[u8]);

impl Shared {
    /// Returns the newest version of a key; `None` when there is none, or it was deleted.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Arc<Document>>> {
        let at = self.visible.load(Ordering::Acquire);
        let view = self.view();
        for cache in [Some(&view.active), view.immutable.as_ref()].into_iter().flatten() {
            if let Some(document) = cache.get(key, at) {
                return Ok(document.value.is_some().then_some(document));
            }
        }
        self.directory.counters.index_reads.add(1);
        match view.version.index.get(key, &self.caches)? {
            Some(tuple) if !tuple.is_deletion => self.document(&view.version, &tuple).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    /// Calls `row` with up to `limit` documents from a key on, up or down.
    pub(crate) fn scan(
        &self,
        start: &[u8],
        is_forward: bool,
        limit: usize,
        row: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<()> {
        let at = self.visible.load(Ordering::Acquire);
        let view = self.view();
        self.directory.counters.index_reads.add(1);
        let mut sources =
            view.version.index.sources(Bound::Included(start), is_forward, &self.caches)?;
        for cache in [Some(&view.active), view.immutable.as_ref()].into_iter().flatten() {
            sources.push(cached(cache, start, is_forward, at));
        }
        let mut merge = Merge::new(sources, is_forward)?;
        let mut last: Option<Box<[u8]>> = None;
        let mut found = 0;
        while found < limit {
            let Some(item) = merge.next().transpose()? else { break };
            if last.as_ref().is_some_and(|last| *last == item.tuple.key) {
                continue;
            }
            if !item.tuple.is_deletion {
                let document = match item.document {
                    Some(document) => document,
                    None => self.document(&view.version, &item.tuple)?,
                };
                row(&document.key, document.value.as_deref().unwrap_or_default());
                found += 1;
            }
            last = Some(item.tuple.key);
        }
        Ok(())
    }

    /// Calls `row` with up to `limit` documents from a sequence number on, in their order.
    ///
    /// The log also has versions that were superseded: the index knows which are the newest.
    pub(crate) fn scan_sequence(
        &self,
        from: u64,
        limit: usize,
        row: SequenceRow<'_>,
    ) -> Result<()> {
        let at = self.visible.load(Ordering::Acquire);
        let view = self.view();
        let View { active, immutable, version } = &*view;
        let mut left = limit;
        self.directory.counters.index_reads.add(1);
        let first = version.segments.partition_point(|segment| segment.record.max_seqno < from);
        for segment in &version.segments[first..] {
            for block in segment.blocks_from(from, &self.caches) {
                let (block, _) = block?;
                for document in documents(&block).skip_while(|document| document.seqno < from) {
                    if left == 0 {
                        return Ok(());
                    }
                    if self.is_newest(&view, at, document)? {
                        row(document.seqno, document.key, document.value);
                        left -= 1;
                    }
                }
            }
        }
        for cache in immutable.iter().chain([active]) {
            for document in cache.newest_from(from, at) {
                if left == 0 {
                    return Ok(());
                }
                let is_superseded =
                    !Arc::ptr_eq(cache, active) && active.get(&document.key, at).is_some();
                if let Some(value) = document.value.as_deref().filter(|_| !is_superseded) {
                    row(document.seqno, &document.key, value);
                    left -= 1;
                }
            }
        }
        Ok(())
    }

    /// Returns whether a document of the log is the newest version of its key.
    fn is_newest(&self, view: &View, at: u64, document: StoredDocument<'_>) -> Result<bool> {
        let mut caches = [Some(&view.active), view.immutable.as_ref()].into_iter().flatten();
        if caches.any(|cache| cache.get(document.key, at).is_some()) {
            return Ok(false);
        }
        let tuple = view.version.index.get(document.key, &self.caches)?;
        Ok(tuple.is_some_and(|tuple| tuple.seqno == document.seqno))
    }

    /// Returns the document to which a tuple of the index refers.
    fn document(&self, version: &Version, tuple: &Tuple) -> Result<Arc<Document>> {
        self.caches.document(tuple.seqno, || {
            let segment = version.segment(tuple.seqno);
            let found = match segment {
                Some(segment) => segment.get(tuple.seqno, &self.caches)?,
                None => None,
            };
            let damaged = || {
                let name = segment.map_or("the log", |segment| &segment.file.name);
                crate::Error::damaged(name, "it lacks a document of the index")
            };
            found.ok_or_else(damaged)
        })
    }
}

/// Returns the newest documents of a write cache from a key on.
fn cached<'a>(cache: &'a WriteCache, start: &[u8], is_forward: bool, at: u64) -> Source<'a> {
    let mut bound = Bound::Included(start.into());
    Box::new(std::iter::from_fn(move || {
        let document = cache.neighbour(bound.clone(), is_forward, at)?;
        bound = Bound::Excluded(document.key.clone());
        Some(Ok(item(document)))
    }))
}

fn item(document: Arc<Document>) -> Item {
    let tuple = tuple(&document);
    Item { tuple, document: Some(document), table: 0 }
}

/// Returns the tuple of a document.
pub(crate) fn tuple(document: &Document) -> Tuple {
    Tuple {
        key: document.key.clone(),
        seqno: document.seqno,
        bytes: document.bytes(),
        is_deletion: document.value.is_none(),
    }
}
