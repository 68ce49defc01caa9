//! Server counters as common metrics and under their own names, and statistics as text.

mod counters;
mod sample;

pub(crate) use sample::{sample, statistics};
