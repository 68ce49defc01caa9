//! What the benchmarks of the client have in common: a step on the engine that does nothing, its
//! core, and what is made of several rounds.

pub(crate) mod cpu;
pub(crate) mod rounds;
pub(crate) mod step;
