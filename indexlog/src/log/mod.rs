//! The log: segments of documents, each addressed by sequence number through a tree of its own.

pub(crate) mod node;
pub(crate) mod reader;
pub(crate) mod writer;

pub(crate) use reader::Segment;
pub(crate) use writer::SegmentWriter;
