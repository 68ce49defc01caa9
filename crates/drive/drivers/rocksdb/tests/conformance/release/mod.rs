//! RocksDB releases and profiles for tests.

mod process;
mod profile;

pub(crate) use process::{on_library, on_release};
pub(crate) use profile::profile;
