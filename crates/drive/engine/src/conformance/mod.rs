//! The conformance battery that every driver must pass.
//!
//! It is not a test of speed. It runs the same operations on an engine and on the `memory` oracle
//! and compares every answer. A driver calls [`battery`] from its tests, through [`on_library`] for
//! a library loaded at run time; a program runs one [`check`] at a time, in a child.
//! [`smoke_test`] is the short form for a library just obtained.
//!
//! Invariants: everything random comes from one fixed seed, so a failure is reproducible; a check
//! returns its failure as text, and the battery alone panics; an engine without a capability (see
//! [`model::Capabilities`]) must refuse what needs it.
//!
//! To add a check: a function of a `Subject` in the file of its theme and one line in
//! `CHECKS` of `battery.rs`.

mod answers;
mod battery;
mod boundaries;
mod client;
mod concurrency;
mod maintenance;
mod parts;
mod pipelining;
mod reopen;
mod smoke_test;
mod stream;
mod subject;
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use battery::{battery, check, checks};
pub use smoke_test::smoke_test;
pub use testing::{
    Absent, TestRun, distribution_library, locked_version, on_library, print_skips, scratch_dir,
    survives_process_crash, wait_until,
};
