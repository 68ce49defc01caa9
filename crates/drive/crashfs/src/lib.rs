//! A file system in memory that forgets what was not synced: simulated power cuts.
//!
//! A [`Disk`] is mounted through FUSE, so unmodified engines and servers run on it. Its files have
//! their current content and the content that a power cut would leave. It is not a disk to measure:
//! memory needs no writes, so throughput on it means nothing.
//!
//! A [`BlockDisk`] is one recorded file with a real file system on it, which then is part of what
//! is tested.
//!
//! A sync makes a file durable, and names as [`Names`] states. Directory operations stay pending
//! until then. Owner, permissions and times are durable at once, and preallocated space is not
//! reserved.

mod block;
mod contents;
mod disk;
mod entries;
mod error;
mod inode;
mod mount;
mod page;
mod pending;
mod recording;
mod requests;
mod serving;
mod survival;
#[cfg(test)]
mod tests;
mod tree;

pub use block::{Attached, BlockDisk, BlockOptions, FsKind};
pub use disk::Disk;
pub use error::MountError;
pub use mount::{Mounted, enter_namespace};
pub use survival::{Forgotten, Loss, LossKind, Survival};
pub use tree::Names;
