//! Server counters as common metrics and under their own names, and statistics as text.

mod counters;
mod plans;
mod sample;
mod tables;
mod waits;

pub(crate) use sample::{sample, statistics};
pub(crate) use tables::sizes_query;
pub(crate) use waits::wait_queries;
