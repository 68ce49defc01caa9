//! Engines that can be compiled: releases and build recipes.
//!
//! A release is a line of its engine's file, added only after the release was compiled or its list
//! of files checked.

mod compression;
mod leveldb;
mod lmdb;
mod registry;
mod rocksdb;
mod sqlite;

pub use registry::compilable;
pub(crate) use registry::{Compilable, Release, find};
