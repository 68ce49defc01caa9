//! Server counters as common metrics and under their own names, and statistics as text.

mod counters;
mod sample;
mod tables;

pub(crate) use sample::{sample, statistics};
pub(crate) use tables::sizes_query;
