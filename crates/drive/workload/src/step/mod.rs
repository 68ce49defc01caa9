//! The steps by name: operation, rows and state afterwards.
//!
//! This folder declares; it generates nothing. It stands between the planner, which reads
//! [`catalog`], and `request`, which turns a recipe into generators.
//!
//! Invariants: a step ends either by a share of the rows or by duration, never by both; a step
//! without clients has stages.
//!
//! To add a step: one recipe in `steps::STEPS`.

mod mix;
mod recipe;
mod registry;
mod steps;

pub(crate) use mix::{Mix, MixRows};
pub use recipe::Stage;
pub(crate) use recipe::{AccessPattern, Order, WRITER};
pub(crate) use registry::find;
pub use registry::{catalog, presence_after, reads_downwards, stages, writer_load};
