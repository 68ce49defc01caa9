//! Generators, compiled once per kind of operation and key distribution.
//!
//! This folder decides nothing about a step; it does what a [`Client`] describes. It stands
//! between `distribution`, which picks rows, and `load`, which calls [`crate::Generator::next`].
//!
//! Invariants: the only state is the number of the next operation and buffers that are rewritten;
//! nothing is allocated per operation.
//!
//! To add a kind of operation on one row: a `RowAction` in `single.rs` and one line in
//! `keys::Keys`.

mod client;
mod keys;
mod multigets;
mod position;
mod single;

pub(crate) use client::{Action, Client};
pub(crate) use keys::Keys;
pub(crate) use position::Position;
