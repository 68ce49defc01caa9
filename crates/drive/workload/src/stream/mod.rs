//! Generators: one struct per kind of operation, compiled once per key distribution.
//!
//! This folder decides nothing about a step; it does what a [`Client`] describes. It stands
//! between `distribution`, which picks rows, and `load`, which calls [`crate::Generator::next`].
//!
//! Invariants: the only state is the number of the next operation and buffers that are rewritten;
//! nothing is allocated per operation.
//!
//! To add a kind of operation: one file here and one line in `keys::Keys`.

mod client;
mod deletes;
mod gets;
mod keys;
mod multigets;
mod position;
mod puts;
mod scans;

pub(crate) use client::{Action, Client};
pub(crate) use keys::Keys;
pub(crate) use position::Position;
