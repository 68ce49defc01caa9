//! A release of RocksDB for a test, in a process of its own, and the profiles it is opened with.

mod process;
mod profile;

pub use process::{on_library, on_release};
pub use profile::profile;
