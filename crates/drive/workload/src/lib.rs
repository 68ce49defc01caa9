//! Streams of operations: what is asked of an engine, step by step.
//!
//! This crate names no engine and reads no clock. It stands beside `engine`, whose [`engine::Rows`]
//! it checks, and is driven by `load`.
//!
//! Invariants: operation n of a client is a function of (seed, client, n) alone; a generator
//! allocates nothing per operation; a value tells its key, so every answer can be checked.
//!
//! To add a step: one file under `step/` and one line in `step::STEPS`. To add a key
//! distribution: one file under `distribution/` and one line in `distribution::DISTRIBUTIONS`.

pub mod generator;

pub use generator::{Generator, Group, WrongAnswer};
