//! Engines that can be compiled: releases and build recipes.
//!
//! A release is a line of its engine's file, added only after the release was compiled or its list
//! of files checked. To add an engine, write one file here, and add its `mod` line and its entry in
//! [`ENGINES`].

mod compilable;
mod compression;
mod leveldb;
mod lmdb;
mod rocksdb;
mod sqlite;

pub(crate) use compilable::{Compilable, Release};

/// The engines that can be compiled.
pub(super) static ENGINES: &[Compilable] =
    &[rocksdb::COMPILABLE, leveldb::COMPILABLE, sqlite::COMPILABLE, lmdb::COMPILABLE];
