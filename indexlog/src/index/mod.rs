//! An LSM tree of tuples: the index maps keys to sequence numbers, the delete list holds the
//! numbers of documents that the index no longer refers to.

mod block;
mod bloom;
mod levels;
mod merge;
mod table;
mod table_writer;
mod tuple;

pub(crate) use block::Block;
pub(crate) use levels::{CompactionJob, Levels};
pub(crate) use merge::{Item, Merge, Source};
pub(crate) use table::Table;
pub(crate) use table_writer::TableWriter;
pub(crate) use tuple::Tuple;
