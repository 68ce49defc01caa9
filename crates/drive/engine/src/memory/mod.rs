//! The oracle: an ordered map in memory.
//!
//! It is not fast and not meant to be benchmarked. The conformance battery compares every driver's
//! answers with its answers, so its tests define what is correct.
//!
//! Invariants: its rows live in one log file from close to reopen; the stronger durability
//! classes append every write to it before they acknowledge it.
//!
//! To change what is correct: the contract in `traits.rs` first, then here.

mod engine;
mod log;
mod table;

pub use engine::MemoryDriver;
