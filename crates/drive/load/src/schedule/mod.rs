//! Arrival schedules: arrival processes of unit rate, and the rate over time.
//!
//! Pacing, how a client waits for an arrival, belongs to the clock. An [`ArrivalProcess`] is one
//! sequence for all clients of a group; they share it, and each arrival is taken by the first
//! client that is free.
//!
//! Invariants: an intended time is a function of the load, its seed and the arrival's number,
//! never of how slow the engine is; nothing is skipped, served twice or re-timed; times never
//! decrease; no rounding adds up over the arrivals of a step.
//!
//! To add an arrival process: a file that yields its arrivals at one per unit of time, a variant
//! of [`model::Arrivals`], and its case in `process.rs`. To add a shape of the rate: a variant of
//! [`model::Rate`] and its inverse in `curve.rs`.

mod arrival_counter;
mod curve;
mod poisson;
mod process;
mod share;
mod shared;

pub(crate) use arrival_counter::{ArrivalCounter, Due, Unserved};
pub use process::ArrivalProcess;
pub use share::Share;
pub(crate) use shared::SharedArrivals;
