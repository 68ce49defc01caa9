//! The contract with a system under test, and the engines that test the harness itself.
//!
//! It is no driver and names none. Its own engines are [`memory`], the oracle, [`null`], which
//! costs nothing, and [`faulty`], which misbehaves on a script. It stands between `model`, whose
//! nouns it speaks, and the drivers and the load loop, which meet here.
//!
//! Invariants: a driver never reads a clock, but for the simulated server of [`faulty`]; an
//! operation that failed is an `Err`, never a quick answer; a session belongs to the thread that
//! asked for it.
//!
//! To add an engine: a crate under `drivers/` that implements [`Driver`], a call of
//! [`conformance::battery`] in its tests, and one line in the program's registry.

pub mod conformance;
pub mod error;
pub mod faulty;
pub mod memory;
pub mod null;
pub mod rows;
pub mod settings_check;
pub mod traits;

pub use error::EngineError;
pub use rows::Rows;
pub use traits::{
    ANSWERS, ApplicationSetup, Driver, Engine, Maintenance, OpenSpec, PIPELINING, Pipeline,
    REVERSE_SCANS, Session, gives_answers, scans_in_reverse,
};
