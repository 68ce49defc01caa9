//! A release of RocksDB for a test, in a process of its own, and the profiles it is opened with.

pub(crate) mod process;
pub(crate) mod profile;
