//! Implementations of the kernels: from well-kept crates, and from inside an engine's library.

mod crates;
mod ffi;
mod rocksdb;
mod set;

pub use set::Set;
pub(crate) use set::{Work, room};
