//! Generators, compiled once per kind of operation.
//!
//! This folder decides nothing about a step; it does what a [`Client`] describes. It stands
//! between `distribution`, which picks rows, and `load`, which calls [`crate::Generator::next`].
//!
//! Invariants: the only state is the number of the next operation and buffers that are rewritten;
//! nothing is allocated per operation.
//!
//! To add a kind of operation on one row: a `RowAction` in `single.rs` or `parts.rs` and one line
//! in `build::generator`.

mod build;
mod client;
mod mixed;
mod multigets;
mod parts;
mod position;
mod single;

pub(crate) use build::generator;
pub(crate) use client::{Action, Client};
pub(crate) use mixed::{Mixed, first_insert};
pub use position::Position;
pub use single::{PointReads, RangeReads, Writes};
