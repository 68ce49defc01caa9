//! Implementations of the kernels: Rust crates and an engine's library.

mod crates;
mod ffi;
mod rocksdb;
mod set;
mod work;

pub use set::Set;
pub(crate) use set::{packed, room};
pub(crate) use work::Work;
