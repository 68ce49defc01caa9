//! Server counters as common metrics and under their own names.

mod counters;
mod sample;
mod statistics;

pub(crate) use sample::sample;
pub(crate) use statistics::statistics;
