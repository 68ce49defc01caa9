//! The conformance battery: what every driver must pass before any number it yields counts.
//!
//! It is not a test of speed. It drives one engine beside the `memory` oracle
//! and compares every answer; a driver calls [`battery`] from its own tests, those of a library
//! that is loaded through [`on_library`], in a process of their own. Its little sister [`smoke_test`]
//! tries a library whenever one is obtained.
//!
//! Invariants: everything random comes from one fixed seed, so a failure repeats; a check returns
//! its failure as text, and the battery alone panics; engines that lack an ability (see
//! [`model::Capabilities`]) are asked to refuse it, not to have it.
//!
//! To add a check: a function of a `Subject` in the file of its theme and one line in
//! `CHECKS` of `battery.rs`.

mod ahead;
mod answers;
mod battery;
mod client;
mod crash;
mod edges;
mod process;
mod reopen;
mod smoke_test;
mod stream;
mod subject;
#[cfg(test)]
mod tests;
mod threads;
mod upkeep;

pub use battery::battery;
pub use crash::survives_process_crash;
pub use process::{Absent, Ran, distribution_library, on_library};
pub use smoke_test::smoke_test;
