//! The oracle: an ordered map in memory, right by being too simple to be wrong.
//!
//! It is not fast and not meant to be compared. Every driver's answers are compared with its own
//! by the conformance battery, so its tests spell out what is right.
//!
//! Invariants: its rows live in one log file from close to reopen; the stronger durability
//! classes append every write to it before the answer, so what is promised is kept.
//!
//! To change what is right: the contract in `traits.rs` first, then here.

mod engine;
mod log;

pub use engine::MemoryDriver;
