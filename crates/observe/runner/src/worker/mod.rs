//! The child process: executes one run's order and reports to the parent.
//!
//! `run` executes an order, `step` one of its steps; `trial` runs a load, `probing` a search;
//! `operations` is what its clients execute; `settle` and `pending_work` wait for the engine;
//! `application` is all that only SQL applications need. Each adds to
//! `parent_link::Worker`. Nothing is archived here: the supervisor does that.

mod application;
mod open;
mod operations;
mod parent_link;
mod pending_work;
mod probing;
mod run;
mod run_engine;
mod settle;
mod step;
mod trial;

pub use open::Registry;
pub use run::work;

#[cfg(test)]
mod tests;
