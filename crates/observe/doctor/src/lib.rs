//! Checks of a machine for what can spoil a benchmark.
//!
//! Reads `/proc`, `/sys`, configuration files and the output of a few programs, and returns what
//! each check found, why it matters and the commands that fix and undo it. It changes nothing.
//!
//! Invariants: what cannot be read is unknown with its reason, never fine; a fine or found value
//! is the machine's own, so that two machines can be compared by values; checks of the snapshot
//! read files only, since they run before every experiment.
//!
//! To add a check, write one file under `check/`, and its `mod` line and its entry in
//! `check/mod.rs`.

mod check;
mod health;
mod machine;
mod measure;
mod outcome;
mod registry;
mod source;

pub use check::{Check, Probe};
pub use health::drive_health;
pub use machine::{Machine, Space, ThisMachine};
pub use registry::{checks, examine, snapshot};
pub use source::Source;
