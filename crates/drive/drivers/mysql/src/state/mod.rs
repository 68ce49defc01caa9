//! What the server tells of itself: its counters under the names of all engines, and under its own.

mod look;
mod names;
mod text;

pub(crate) use look::look;
pub(crate) use text::text;
