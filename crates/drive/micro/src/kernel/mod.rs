//! Implementations of the kernels: Rust crates and an engine's library.

mod crates;
mod ffi;
mod rocksdb;
mod set;

pub(crate) use crates::Work;
pub use set::Set;
pub(crate) use set::{packed, room};
