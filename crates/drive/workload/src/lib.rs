//! Streams of operations for every step.
//!
//! This crate names no engine and reads no clock. It stands next to `engine`, whose
//! [`engine::Rows`] it checks, and is driven by `load`.
//!
//! Invariants: operation n of a client is a function of (seed, client, n) alone; a generator
//! allocates nothing per operation; a value identifies its key, so every answer can be checked.
//!
//! To add a step: one recipe in `step/steps.rs`. To add a key distribution: one file under
//! `distribution/` and one line in its `registry.rs`. To add a kind of operation: see `stream`.

mod answer;
mod distribution;
pub mod generator;
mod generators;
mod key;
mod permutation;
pub mod random;
mod request;
mod step;
mod stream;
mod value;

pub use distribution::{Integers, check_distribution};
pub use generator::{Generator, Group, WorkloadError, WrongAnswer};
pub use generators::{check, generators, kinds};
pub use request::{Part, Presence, Request};
pub use step::{Stage, catalog, presence_after, reads_downwards, stages, writer_load};
pub use stream::{PointReads, Position, RangeReads, Writes};
