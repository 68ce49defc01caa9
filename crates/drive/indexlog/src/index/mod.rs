//! An LSM tree of tuples: the index maps keys to sequence numbers, the delete list holds the numbers of
//! documents that the index no longer refers to.

mod block;
mod bloom;
mod levels;
mod merge;
mod table;
mod table_writer;

pub(crate) use block::Block;
pub(crate) use levels::{CompactionJob, Levels};
pub(crate) use merge::{Item, Merge, Source};
pub(crate) use table::Table;
pub(crate) use table_writer::TableWriter;

/// What the index holds of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tuple {
    pub(crate) key: Box<[u8]>,
    pub(crate) seqno: u64,
    /// Bytes of the document's key and value.
    pub(crate) bytes: u32,
    /// Whether it says that the key was deleted.
    pub(crate) is_deletion: bool,
}
