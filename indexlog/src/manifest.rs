//! The manifest: a log of edits, each of which takes effect whole or not at all.
//!
//! A compaction of the index and what it adds to the delete list are one edit; so is the
//! replacement of a segment with the part of the delete list that it used up.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::codec::{frame, put_frame};
use crate::error::{Error, Result};
use crate::files::{Directory, StoredFile};
use crate::log::node::Child;

/// Name of the file.
pub(crate) const MANIFEST: &str = "manifest";
/// Name of the file that replaces it.
const NEW: &str = "manifest.new";
/// Size at which the manifest is written anew.
const BYTES_MAX: u64 = 4 << 20;
/// Ends of the names of all other files.
const FILES: [&str; 3] = [".table", ".segment", ".wal"];

/// A table of the index or of the delete list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableRecord {
    pub(crate) id: u64,
    /// First and last key.
    pub(crate) first: Vec<u8>,
    pub(crate) last: Vec<u8>,
    pub(crate) tuples: u64,
    /// Bytes of the file.
    pub(crate) bytes: u64,
    /// Where filter and places of blocks begin.
    pub(crate) footer: u64,
    pub(crate) filter_bytes: u32,
    pub(crate) filter_bits: u32,
}

/// The root of a segment's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Root {
    offset: u64,
    bytes: u32,
}

impl From<Child> for Root {
    fn from(child: Child) -> Self {
        Self { offset: child.offset, bytes: child.bytes }
    }
}

impl From<Root> for Child {
    fn from(root: Root) -> Self {
        Self { first: 0, offset: root.offset, bytes: root.bytes }
    }
}

/// A segment of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentRecord {
    pub(crate) id: u64,
    /// The sequence numbers that belong to it, whether or not their documents are still there.
    pub(crate) min_seqno: u64,
    pub(crate) max_seqno: u64,
    pub(crate) documents: u64,
    /// Bytes of keys and values.
    pub(crate) document_bytes: u64,
    /// Bytes of the file that are committed.
    pub(crate) bytes: u64,
    pub(crate) root: Option<Root>,
    /// Whether it takes no more documents.
    pub(crate) is_sealed: bool,
    /// Documents that the delete list names, and their bytes.
    pub(crate) garbage: Garbage,
}

/// Documents that the index no longer refers to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Garbage {
    pub(crate) documents: u64,
    pub(crate) bytes: u64,
}

/// A part of the delete list that was used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Purge {
    /// The sequence numbers concerned.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// In these tables; entries that came later, in others, are still to be used.
    pub(crate) tables: Vec<u64>,
}

/// A change of a tree's tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeEdit {
    /// New tables with their levels, in the order in which they go to level 0.
    pub(crate) added: Vec<(usize, TableRecord)>,
    /// Tables that are gone.
    pub(crate) removed: Vec<u64>,
}

/// A change of the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    /// The last sequence number that is in log and index.
    pub(crate) flushed: Option<u64>,
    /// The first number that no file has.
    pub(crate) next_file: u64,
    pub(crate) index: TreeEdit,
    pub(crate) deletes: TreeEdit,
    pub(crate) segments_removed: Vec<u64>,
    /// New segments, and known ones whose record changes.
    pub(crate) segments: Vec<SegmentRecord>,
    pub(crate) purges: Vec<Purge>,
}

impl Edit {
    /// Adds a later edit to this one.
    pub(crate) fn absorb(&mut self, later: Self) {
        for (tree, later) in [(&mut self.index, later.index), (&mut self.deletes, later.deletes)] {
            tree.added.extend(later.added);
            tree.added.retain(|(_, table)| !later.removed.contains(&table.id));
        }
        let is_new = |record: &SegmentRecord| {
            later.segments.iter().all(|it| it.id != record.id)
                && !later.segments_removed.contains(&record.id)
        };
        self.segments.retain(is_new);
        self.segments.extend(later.segments);
        self.purges.extend(later.purges);
        self.flushed = later.flushed.or(self.flushed);
        self.next_file = self.next_file.max(later.next_file);
    }
}

/// The open manifest.
pub(crate) struct Manifest {
    file: StoredFile,
    /// Bytes of the edit with which it began.
    first_bytes: u64,
    bytes: u64,
}

impl Manifest {
    /// Returns the edits of the manifest in order; none for a new directory.
    ///
    /// A torn edit at the end never took effect. Each edit was synced before the next was written,
    /// so one that is followed by another is damaged.
    pub(crate) fn read(directory: &Arc<Directory>) -> Result<Vec<Edit>> {
        let names = directory.files.list().map_err(Error::io("the data directory"))?;
        if !names.iter().any(|name| name == MANIFEST) {
            // Every other file is younger.
            let is_ours = |name: &String| FILES.iter().any(|end| name.ends_with(end));
            return match names.iter().any(is_ours) {
                true => Err(Error::damaged(MANIFEST, "it is missing: other files are there")),
                false => Ok(Vec::new()),
            };
        }
        let content = directory.open(MANIFEST.to_owned())?.read()?;
        let (mut edits, mut rest) = (Vec::new(), &content[..]);
        while let Some((edit, after)) = frame(rest) {
            let edit = serde_json::from_slice(edit);
            edits
                .push(edit.map_err(|_no_edit| Error::damaged(MANIFEST, "an edit cannot be read"))?);
            rest = after;
        }
        if edits.is_empty() || (1..rest.len()).any(|at| frame(&rest[at..]).is_some()) {
            return Err(Error::damaged(MANIFEST, "the checksum of an edit does not hold"));
        }
        Ok(edits)
    }

    /// Replaces the manifest by one edit that holds everything.
    pub(crate) fn create(directory: &Arc<Directory>, all: &Edit) -> Result<Self> {
        let mut content = Vec::new();
        put_frame(&mut content, &json(all));
        let file = directory.create(NEW.to_owned())?;
        file.write_at(&content, 0)?;
        file.sync()?;
        directory.files.rename(NEW, MANIFEST).map_err(Error::io(NEW))?;
        directory.sync()?;
        let bytes = content.len() as u64;
        Ok(Self { file, first_bytes: bytes, bytes })
    }

    /// Appends an edit, durably; files it names were synced before.
    pub(crate) fn append(&mut self, edit: &Edit) -> Result<()> {
        self.file.directory.sync()?;
        let mut content = Vec::new();
        put_frame(&mut content, &json(edit));
        self.file.write_at(&content, self.bytes)?;
        self.file.sync()?;
        self.bytes += content.len() as u64;
        Ok(())
    }

    /// Returns whether the manifest should be written anew: most of it is edits.
    pub(crate) const fn is_long(&self) -> bool {
        self.bytes > BYTES_MAX + 2 * self.first_bytes
    }
}

fn json(edit: &Edit) -> Vec<u8> {
    serde_json::to_vec(edit).expect("an edit is always valid JSON")
}
