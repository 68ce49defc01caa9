//! Background work: flushes and compactions of the index.

use std::sync::Arc;

use crate::error::Result;
use crate::index::{CompactionJob, Item, Merge, Table, TableWriter, Tuple};
use crate::log::SegmentWriter;
use crate::manifest::{Edit, SegmentRecord, TreeEdit};
use crate::reading::tuple;
use crate::shared::Shared;
use crate::sync::lock;
use crate::version::{OpenFiles, Version};
use crate::write_cache::WriteCache;

/// Flushes wait at so many times the tables in level 0 that start a compaction.
const LEVEL0_STOP: usize = 3;

/// A document that the index no longer refers to: its sequence number and bytes.
type Dropped = (u64, u32);

impl Shared {
    /// Flushes the immutable write cache; returns whether there was one.
    pub(crate) fn flush_immutable(&self) -> Result<bool> {
        while self.view().version.index.level0() >= LEVEL0_STOP * self.options.level0_tables {
            self.compact_index(Levels::Due)?;
        }
        let mut segment = lock(&self.segment);
        let Some(cache) = self.view().immutable.clone() else { return Ok(false) };
        let mut writer = segment.take();
        self.flush(&cache, &mut writer)?;
        *segment = writer;
        drop(segment);
        if let Some(wal) = &cache.wal {
            wal.retire();
        }
        // With the lock of the writers, or one that is about to wait would miss it.
        drop(lock(&self.writer));
        self.room.notify_all();
        self.wake();
        Ok(true)
    }

    /// Appends the documents to the growing segment and their tuples to the index.
    fn flush(&self, cache: &WriteCache, growing: &mut Option<SegmentWriter>) -> Result<()> {
        let Some((first, last)) = cache.seqnos() else { return Ok(()) };
        let mut writer = match growing.take() {
            Some(writer) => writer,
            None => self.new_segment(first)?,
        };
        let before = writer.bytes();
        for document in cache.newest_from(0, u64::MAX) {
            if let Some(value) = &document.value {
                writer.push(document.seqno, &document.key, value)?;
            }
        }
        let mut segment = writer.commit(last)?;
        let mut table = TableWriter::new();
        cache.newest_by_key().for_each(|document| table.push(&tuple(&document)));
        let table = table.finish(&self.directory, self.new_file(), self.options.bloom_bits)?;
        let table_bytes = table.as_ref().map_or(0, |table| table.record.bytes);
        self.directory.counters.flush_bytes.add(writer.bytes() - before + table_bytes);
        segment.record.is_sealed = writer.bytes() >= self.options.segment_bytes;
        let mut record = segment.record.clone();
        let edit = |version: &Version| {
            let known = version.segments.iter().find(|known| known.record.id == record.id);
            record.garbage = known.map(|known| known.record.garbage).unwrap_or_default();
            let added = table.iter().map(|table| (0, table.record.clone())).collect();
            Edit {
                flushed: Some(last),
                index: TreeEdit { added, removed: Vec::new() },
                segments: vec![record],
                ..Edit::default()
            }
        };
        let is_sealed = segment.record.is_sealed;
        let open =
            OpenFiles { tables: table.iter().map(Arc::clone).collect(), segments: vec![segment] };
        self.commit(edit, open, true)?;
        *growing = (!is_sealed).then_some(writer);
        Ok(())
    }

    /// Creates a segment.
    pub(crate) fn new_segment(&self, min_seqno: u64) -> Result<SegmentWriter> {
        let compression = self.options.compression;
        SegmentWriter::create(&self.directory, self.new_file(), min_seqno, compression)
    }

    /// Compacts the index; returns whether there was something to do.
    ///
    /// What it drops goes to the delete list in the same edit.
    pub(crate) fn compact_index(&self, levels: Levels) -> Result<bool> {
        let _one_at_a_time = lock(&self.compaction);
        let index = self.view().version.index.clone();
        let job = match levels {
            Levels::Due => index.job(&self.options),
            Levels::Newest => index.job_of_level0(),
            Levels::All => index.job_of_all(),
        };
        let Some(job) = job else { return Ok(false) };
        let mut dropped = Vec::new();
        let mut open = OpenFiles {
            tables: self.merge(&job, &mut dropped, &|_| true)?,
            ..OpenFiles::default()
        };
        let index = edit_of(&job, &open.tables);
        dropped.sort_unstable();
        let mut deletes = TableWriter::new();
        dropped.iter().for_each(|dropped| deletes.push(&delete_entry(*dropped)));
        let deletes = deletes.finish(&self.directory, self.new_file(), self.options.bloom_bits)?;
        let added: Vec<_> = deletes.iter().map(|table| (0, table.record.clone())).collect();
        let bytes: u64 = added.iter().map(|(_, record)| record.bytes).sum();
        self.directory.counters.compaction_write_bytes.add(bytes);
        open.tables.extend(deletes);
        let edit = |version: &Version| Edit {
            index,
            deletes: TreeEdit { added, removed: Vec::new() },
            segments: with_garbage(version, &dropped),
            ..Edit::default()
        };
        self.commit(edit, open, false)?;
        self.wake();
        Ok(true)
    }

    /// Compacts the delete list; returns whether there was something to do.
    ///
    /// Entries that a collection has used up are left out. The caller holds `collection`.
    pub(crate) fn compact_deletes(&self) -> Result<bool> {
        let version = Arc::clone(&self.view().version);
        let Some(job) = version.deletes.job(&self.options) else { return Ok(false) };
        let is_live = |item: &Item| !version.is_purged(item.tuple.seqno, item.table);
        let tables = self.merge(&job, &mut Vec::new(), &is_live)?;
        let deletes = edit_of(&job, &tables);
        let open = OpenFiles { tables, ..OpenFiles::default() };
        self.commit(|_| Edit { deletes, ..Edit::default() }, open, false)?;
        Ok(true)
    }

    /// Merges the tables of a job; returns the new ones.
    fn merge(
        &self,
        job: &CompactionJob,
        dropped: &mut Vec<Dropped>,
        is_live: &dyn Fn(&Item) -> bool,
    ) -> Result<Vec<Arc<Table>>> {
        let counters = &self.directory.counters;
        counters.compaction_read_bytes.add(job.tables().map(|table| table.record.bytes).sum());
        let mut tables = Vec::new();
        let mut writer = TableWriter::new();
        let mut last: Option<Box<[u8]>> = None;
        let mut end = |writer: TableWriter| -> Result<()> {
            let table = writer.finish(&self.directory, self.new_file(), self.options.bloom_bits)?;
            counters.compaction_write_bytes.add(table.as_ref().map_or(0, |it| it.record.bytes));
            tables.extend(table);
            Ok(())
        };
        for item in Merge::new(job.sources(&self.background_caches)?, true)? {
            let item = item?;
            let tuple = &item.tuple;
            if last.as_ref().is_some_and(|last| *last == tuple.key) {
                // An older version.
                if !tuple.is_deletion {
                    dropped.push((tuple.seqno, tuple.bytes));
                }
                continue;
            }
            let is_over = tuple.is_deletion && job.is_last;
            if !is_over && is_live(&item) {
                writer.push(tuple);
                if writer.bytes() >= self.options.table_bytes {
                    end(std::mem::replace(&mut writer, TableWriter::new()))?;
                }
            }
            last = Some(item.tuple.key);
        }
        end(writer)?;
        Ok(tables)
    }
}

/// Which levels a compaction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Levels {
    /// The one that is too large, if any.
    Due,
    /// Level 0, if it has tables.
    Newest,
    /// All of them.
    All,
}

fn edit_of(job: &CompactionJob, outputs: &[Arc<Table>]) -> TreeEdit {
    TreeEdit {
        added: outputs.iter().map(|table| (job.level, table.record.clone())).collect(),
        removed: job.tables().map(|table| table.record.id).collect(),
    }
}

/// Returns an entry of the delete list.
fn delete_entry((seqno, bytes): Dropped) -> Tuple {
    Tuple { key: delete_key(seqno).into(), seqno, bytes, is_deletion: false }
}

/// Returns the key of a sequence number in the delete list: the order of keys is that of numbers.
pub(crate) fn delete_key(seqno: u64) -> [u8; 8] {
    seqno.to_be_bytes()
}

/// Returns the records of the segments to which dropped documents belong, with these added.
fn with_garbage(version: &Version, dropped: &[Dropped]) -> Vec<SegmentRecord> {
    let mut records: Vec<SegmentRecord> = Vec::new();
    for (seqno, bytes) in dropped {
        let Some(segment) = version.segment(*seqno) else { continue };
        if records.last().is_none_or(|last| last.id != segment.record.id) {
            records.push(segment.record.clone());
        }
        if let Some(record) = records.last_mut() {
            record.garbage.documents += 1;
            record.garbage.bytes += u64::from(*bytes);
        }
    }
    records
}
