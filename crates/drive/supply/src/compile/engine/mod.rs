//! Engines that can be compiled: releases and build recipes.
//!
//! A release is a line of its engine's file, added only after the release was compiled or its list
//! of files checked.

mod compilable;
mod compression;
mod leveldb;
mod lmdb;
mod registry;
mod rocksdb;
mod sqlite;

pub(crate) use compilable::{Compilable, Release};
pub use registry::compilable;
pub(crate) use registry::find;
