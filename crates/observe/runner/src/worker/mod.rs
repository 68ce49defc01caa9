//! The child process: executes one run's order and reports to the parent.
//!
//! `run` executes an order, `step` one of its steps; `trial` runs a load, `probing` a search;
//! `statements` reads the plans of a server before and after; `settle` and `pending_work` wait for
//! the engine; `audit` checks row counts. Each adds to
//! `parent_link::Worker`. Nothing is archived here: the supervisor does that.

mod audit;
mod conditions;
mod context;
mod open;
mod parent_link;
mod pending_work;
mod probing;
mod run;
mod settle;
mod statements;
mod step;
mod trial;

pub use open::Registry;
pub use run::work;

#[cfg(test)]
mod tests;
