//! Parts that the client's benchmarks share: step, core, and summary of rounds.

pub(crate) mod cpu;
pub(crate) mod rounds;
pub(crate) mod step;
