//! The workers of a run whose clients run on other machines.
//!
//! `group` has their connections, `lock_step` turns all messages into the messages of one worker,
//! `merge` adds what they measured, `clocks` compares their clocks with the clock of this host.

mod clocks;
mod connection;
mod group;
mod lock_step;
mod merge;

pub(super) use group::{GroupEvent, Lost, WorkerGroup};
