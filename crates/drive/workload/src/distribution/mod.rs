//! Key distributions: which row an operation is about.
//!
//! This folder knows ids only: no key, no operation. It stands below `stream`.
//!
//! Invariants: a draw is a function of (stream, n) alone; set-up costs O(1) time and memory for
//! any number of rows; every id is below `rows`.
//!
//! To add a distribution: one file here, its variant of [`Permuted`], and one line in
//! `registry::DISTRIBUTIONS`.

mod integers;
mod picker;
mod plain;
mod registry;
mod scrambled;
mod zipf;

pub use integers::Integers;
pub(crate) use picker::{Permuted, Picker};
pub(crate) use plain::{Access, Sequential, Shuffled, Space, Uniform};
pub use registry::check_distribution;
pub(crate) use registry::parse;
pub(crate) use scrambled::Scrambled;
pub(crate) use zipf::{Ranks, THETA_DEFAULT};
