//! Garbage collection of log segments, without a read of the index.
//!
//! The delete list names the documents that compactions of the index have dropped. A segment and
//! its part of that list are merged in the order of sequence numbers; what the list does not name
//! is copied to a new segment, under its old number, so the index need not change.

use std::ops::Bound;
use std::sync::Arc;

use crate::document::documents;
use crate::error::Result;
use crate::index::Merge;
use crate::jobs::delete_key;
use crate::log::Segment;
use crate::manifest::{Edit, Garbage, Purge};
use crate::shared::Shared;
use crate::sync::lock;
use crate::version::{OpenFiles, Version};

impl Shared {
    /// Compacts the delete list or collects a segment; returns whether there was something to do.
    pub(crate) fn collect(&self) -> Result<bool> {
        let _one_at_a_time = lock(&self.collection);
        if self.compact_deletes()? {
            return Ok(true);
        }
        let version = Arc::clone(&self.view().version);
        let Some(segment) = version.collectable(self.options.garbage_ratio) else {
            return Ok(false);
        };
        let copy = self.copy_live(segment, &version)?;
        let counters = &self.directory.counters;
        counters.collection_read_bytes.add(segment.record.bytes);
        counters.collection_write_bytes.add(copy.record.bytes);
        counters.segments_collected.add(1);
        let is_empty = copy.record.documents == 0;
        if is_empty {
            copy.file.retire();
        }
        let edit = |now: &Version| {
            let mut record = copy.record.clone();
            // A compaction may have dropped more of its documents meanwhile.
            let old = now.segments.iter().find(|it| it.record.id == segment.record.id);
            let now = old.map_or(segment.record.garbage, |old| old.record.garbage);
            record.garbage = Garbage {
                documents: now.documents - segment.record.garbage.documents,
                bytes: now.bytes - segment.record.garbage.bytes,
            };
            record.is_sealed = true;
            Edit {
                segments_removed: vec![segment.record.id],
                segments: if is_empty { Vec::new() } else { vec![record] },
                purges: vec![purge(segment, &version)],
                ..Edit::default()
            }
        };
        let open = OpenFiles { segments: vec![copy.clone()], ..OpenFiles::default() };
        self.commit(edit, open, false)?;
        Ok(true)
    }

    /// Seals the growing segment, so that it can be collected.
    pub(crate) fn seal_growing(&self) -> Result<()> {
        let mut growing = lock(&self.segment);
        let Some(writer) = growing.take() else { return Ok(()) };
        let edit = |version: &Version| {
            let of = |segment: &&Segment| segment.record.id == writer.id();
            let mut segments: Vec<_> =
                version.segments.iter().find(of).map(|it| it.record.clone()).into_iter().collect();
            segments.iter_mut().for_each(|record| record.is_sealed = true);
            Edit { segments, ..Edit::default() }
        };
        self.commit(edit, OpenFiles::default(), false)
    }

    /// Copies the documents of a segment that the delete list does not name.
    fn copy_live(&self, segment: &Segment, version: &Version) -> Result<Segment> {
        let record = &segment.record;
        let from = delete_key(record.min_seqno);
        let caches = &self.background_caches;
        let mut deleted =
            Merge::new(version.deletes.sources(Bound::Included(&from), true, caches)?, true)?;
        let mut next = || -> Result<Option<u64>> {
            for item in deleted.by_ref() {
                let item = item?;
                if !version.is_purged(item.tuple.seqno, item.table) {
                    return Ok(Some(item.tuple.seqno));
                }
            }
            Ok(None)
        };
        let mut next_deleted = next()?;
        let mut copy = self.new_segment(record.min_seqno)?;
        for block in segment.blocks_from(record.min_seqno, caches) {
            let (block, _) = block?;
            for document in documents(&block) {
                while next_deleted.is_some_and(|deleted| deleted < document.seqno) {
                    next_deleted = next()?;
                }
                if next_deleted != Some(document.seqno) {
                    copy.push(document.seqno, document.key, document.value)?;
                }
            }
        }
        copy.commit(record.max_seqno)
    }
}

/// Returns what of the delete list the collection of a segment uses up.
fn purge(segment: &Segment, version: &Version) -> Purge {
    let (from, to) = (segment.record.min_seqno, segment.record.max_seqno);
    let (first, last) = (delete_key(from), delete_key(to));
    let concerned = version.deletes.tables().filter(|(_, table)| table.overlaps(&first, &last));
    Purge { from, to, tables: concerned.map(|(_, table)| table.record.id).collect() }
}
