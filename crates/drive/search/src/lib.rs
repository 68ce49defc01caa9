//! Which probe comes next: the search for the highest rate, or the best number of clients.
//!
//! Not the load itself, and no clock: whoever asks runs each probe and tells what was seen. It
//! stands between the plan, which says what is searched, and the runner, which runs the probes.
//!
//! Invariants: a search is a function of what it was told; it ends after a bounded number of
//! probes; every probe it asked for is in its record.
//!
//! To add a search, implement [`Search`] in a file of its own.

mod clients;
mod entry;
#[cfg(test)]
mod example;
mod probe;
mod rate;
mod ruling;
mod steady;
mod voids;
mod window;
mod words;

pub use clients::{ClientSearch, ClientSpec};
pub use probe::{Next, Probe, ProbeLoad, ProbeObservation, Search, Second};
pub use rate::{RateSearch, RateSpec};
