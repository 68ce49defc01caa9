//! The engines that can be compiled: their releases, and what makes their libraries.
//!
//! A release is a line of its engine's file; a line stands there only after the release was
//! compiled, or at least its list of files read.

mod compression;
mod leveldb;
mod lmdb;
mod registry;
mod rocksdb;
mod sqlite;

pub use registry::compilable;
pub(crate) use registry::{Compilable, Release, find};
