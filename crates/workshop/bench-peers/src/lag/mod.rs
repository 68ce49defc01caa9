//! Latency reported by rate-limited peers and by ours.
//!
//! Two tables: the lag of the load generators themselves, on an event that does nothing; and the
//! report of a second in which everything, or only the engine, stalls. Ours is `assay` as a user
//! runs it, as the run is what is compared. Each part is skipped, with the reason, where a program
//! is not installed; a row that cannot be measured on a busy host has the reason instead.

mod assay;
mod compare;
mod peers;

pub(crate) use compare::compare;
