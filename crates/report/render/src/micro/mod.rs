//! Microbenchmarks: cost of a block by implementation, and published times.

mod render;
