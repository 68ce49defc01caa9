//! The state of the files: index, delete list and segments. A version never changes.

use std::sync::Arc;

use crate::error::Result;
use crate::files::Directory;
use crate::index::{Levels, Table};
use crate::log::Segment;
use crate::manifest::{Edit, Garbage, Purge, TableRecord, TreeEdit};

/// A state of the files.
#[derive(Clone, Default)]
pub(crate) struct Version {
    pub(crate) index: Levels,
    pub(crate) deletes: Levels,
    /// In the order of their sequence numbers, which do not overlap.
    pub(crate) segments: Vec<Segment>,
    pub(crate) purges: Vec<Purge>,
    /// The last sequence number that is in log and index.
    pub(crate) flushed: u64,
    pub(crate) next_file: u64,
}

/// Files that an edit names and that are open already.
#[derive(Default)]
pub(crate) struct OpenFiles {
    pub(crate) tables: Vec<Arc<Table>>,
    pub(crate) segments: Vec<Segment>,
}

impl Version {
    /// Applies an edit; files that are not among `open` are opened.
    pub(crate) fn apply(
        &mut self,
        edit: &Edit,
        mut open: OpenFiles,
        directory: &Arc<Directory>,
    ) -> Result<()> {
        let tables = &open.tables;
        for (tree, change) in [(&mut self.index, &edit.index), (&mut self.deletes, &edit.deletes)] {
            change.removed.iter().for_each(|id| tree.remove(*id));
            for (level, record) in &change.added {
                let known = tables.iter().find(|table| table.record.id == record.id);
                tree.insert(
                    *level,
                    known.map_or_else(|| open_table(record, directory), |it| Ok(Arc::clone(it)))?,
                );
            }
        }
        for record in &edit.segments {
            let of = |segment: &Segment| segment.record.id == record.id;
            let known =
                self.segments.iter().find(|it| of(it)).or(open.segments.iter().find(|it| of(it)));
            let file = match known {
                Some(known) => Arc::clone(&known.file),
                None => Arc::new(directory.open(Segment::name(record.id))?),
            };
            open.segments.retain(|segment| !of(segment));
            self.segments.retain(|segment| !of(segment));
            self.segments.push(Segment { file, record: record.clone() });
        }
        for segment in
            self.segments.iter().filter(|it| edit.segments_removed.contains(&it.record.id))
        {
            segment.file.retire();
        }
        self.segments.retain(|segment| !edit.segments_removed.contains(&segment.record.id));
        self.segments.sort_by_key(|segment| segment.record.min_seqno);
        self.purges.extend(edit.purges.iter().cloned());
        for purge in &mut self.purges {
            purge
                .tables
                .retain(|id| self.deletes.tables().any(|(_, table)| table.record.id == *id));
        }
        self.purges.retain(|purge| !purge.tables.is_empty());
        self.flushed = edit.flushed.unwrap_or(self.flushed);
        self.next_file = self.next_file.max(edit.next_file);
        Ok(())
    }

    /// Returns the edit that makes this version out of nothing.
    pub(crate) fn as_edit(&self) -> Edit {
        let tree = |levels: &Levels| TreeEdit {
            added: levels.tables().map(|(level, table)| (level, table.record.clone())).collect(),
            removed: Vec::new(),
        };
        Edit {
            flushed: Some(self.flushed),
            next_file: self.next_file,
            index: tree(&self.index),
            deletes: tree(&self.deletes),
            segments: self.segments.iter().map(|segment| segment.record.clone()).collect(),
            purges: self.purges.clone(),
            ..Edit::default()
        }
    }

    /// Returns the segment to which a sequence number belongs.
    pub(crate) fn segment(&self, seqno: u64) -> Option<&Segment> {
        let at = self.segments.partition_point(|segment| segment.record.max_seqno < seqno);
        self.segments.get(at).filter(|segment| segment.record.min_seqno <= seqno)
    }

    /// Returns the segment that is collected next: the one with the largest share of garbage.
    pub(crate) fn collectable(&self, ratio: f64) -> Option<&Segment> {
        let share = |segment: &&Segment| {
            segment.record.garbage.bytes as f64 / segment.record.document_bytes.max(1) as f64
        };
        let candidates = self.segments.iter().filter(|segment| {
            segment.record.is_sealed
                && segment.record.garbage.documents > 0
                && share(segment) >= ratio
        });
        candidates.max_by(|one, other| share(one).total_cmp(&share(other)))
    }

    /// Returns the garbage of all segments.
    pub(crate) fn garbage(&self) -> Garbage {
        let mut all = Garbage::default();
        for segment in &self.segments {
            all.documents += segment.record.garbage.documents;
            all.bytes += segment.record.garbage.bytes;
        }
        all
    }

    /// Returns whether an entry of the delete list was used up.
    pub(crate) fn is_purged(&self, seqno: u64, table: u64) -> bool {
        self.purges
            .iter()
            .any(|it| (it.from..=it.to).contains(&seqno) && it.tables.contains(&table))
    }
}

fn open_table(record: &TableRecord, directory: &Arc<Directory>) -> Result<Arc<Table>> {
    let file = directory.open(Table::name(record.id))?;
    Ok(Arc::new(Table::open(file, record.clone())?))
}
