//! indexlog driver: the index+log engine of this repository.
//!
//! It stands below `engine`, whose traits it implements, and translates settings, options and
//! counters. `docs/engines/indexlog.md` has what a user needs.
//!
//! Invariants: options have the names of `indexlog::Options`; what a class of durability guarantees
//! is the engine's own work.
//!
//! To add an option, add it to `config.rs`.

mod config;
mod driver;
mod instance;
mod session;

pub use driver::driver;
