//! A release of RocksDB for a test, in a process of its own, and the profiles it is opened with.

mod process;
mod profile;

pub(crate) use process::{Ran, on_library, on_release};
pub(crate) use profile::profile;
