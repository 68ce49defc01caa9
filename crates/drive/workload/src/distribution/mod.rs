//! Key distributions: which row an operation is about.
//!
//! This folder knows ids only: no key, no operation. It stands below `stream`, whose generators
//! are compiled once per distribution, so that drawing a key costs no indirect call.
//!
//! Invariants: a draw is a function of (stream, n) alone; set-up costs O(1) time and memory for
//! any number of rows; every id is below `rows`.
//!
//! To add a distribution: one file here that implements [`Picker`] and one line in
//! `registry::DISTRIBUTIONS`.

mod picker;
mod plain;
mod registry;
mod zipf;

pub(crate) use picker::{Access, Picker, Space};
pub(crate) use plain::{Sequential, Shuffled, Uniform};
pub use registry::check_distribution;
pub(crate) use registry::parse;
