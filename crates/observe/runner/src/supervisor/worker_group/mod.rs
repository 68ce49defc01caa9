//! The workers of a run whose clients run on other machines.
//!
//! `group` has their connections, `lock_step` turns the messages of all into those of one worker,
//! `merge` adds what they measured, `clocks` compares their clocks with that of this host.

mod clocks;
mod connection;
mod group;
mod lock_step;
mod merge;

pub(super) use group::{GroupEvent, Lost, WorkerGroup};
