//! The driver interface, and built-in engines that test the harness.
//!
//! It is no driver and names none. Its own engines are [`memory`], the oracle, [`null`], which
//! costs nothing, and [`faulty`], which injects scripted faults. It stands between `model` and the
//! drivers and the load loop.
//!
//! Invariants: a driver never reads a clock, except for the simulated server of [`faulty`]; an
//! operation that failed is an `Err`, never a fast answer; a session belongs to the thread that
//! opened it.
//!
//! To add an engine: a crate under `drivers/` or `sql/` that implements [`Driver`], a call of
//! [`conformance::battery`] in its tests, and one line in the program's registry.

mod background;
pub mod conformance;
pub mod error;
pub mod faulty;
mod lock_waits;
pub mod memory;
pub mod null;
pub mod option_reach;
pub mod parts;
pub mod refusal;
pub mod rows;
pub mod server_side;
pub mod settings_check;
pub mod statement_times;
pub mod traits;
pub mod way;

pub use background::background_threads;
pub use error::{EngineError, Result};
pub use lock_waits::{LockWaits, NO_ANSWER};
pub use model::Setting;
pub use option_reach::{OptionReach, Reach};
pub use refusal::Refusal;
pub use rows::{CountedRows, Rows};
pub use server_side::{ApplicationSetup, DATA_SET_FILE, ServerSide, WaitSampler, join_data_set};
pub use statement_times::{EndedStatement, StatementTimes};
pub use traits::{
    ANSWERS, Driver, Engine, Maintenance, OpenSpec, PIPELINING, Pipeline, REVERSE_SCANS, Session,
    gives_answers, linked, scans_in_reverse,
};
pub use way::{VALUE_CHANGES, Way};
