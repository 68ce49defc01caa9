//! Search for the highest sustainable rate or the best number of clients.
//!
//! It chooses probes; it generates no load and reads no clock: the caller runs each probe and
//! passes its observation. It stands between the plan, which defines the search, and the runner,
//! which runs the probes.
//!
//! Invariants: a search is a pure function of its observations; it ends after a bounded number of
//! probes; every probe it requested is in its record.
//!
//! To add a search, implement [`Search`] in a file of its own.

mod clients;
mod format;
mod outcome;
mod probe;
mod probe_record;
mod rate;
mod retry;
mod steady;
#[cfg(test)]
mod testing;
mod window;

pub use clients::{ClientSearch, ClientSpec};
pub use probe::{Next, Probe, ProbeLoad, ProbeObservation, Search, Second};
pub use rate::{RateSearch, RateSpec};
