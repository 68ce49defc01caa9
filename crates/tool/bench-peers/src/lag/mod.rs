//! What peers' rate limits do to the times they report, and what ours reports.
//!
//! Two tables: the lateness of the generators themselves, on an event that does nothing; and what
//! is reported of a second in which everything, or only the engine, stood still. Ours is `assay`
//! as a user runs it, since it is the run that is judged. Each part is skipped, with the reason,
//! where a program is not installed.

mod assay;
mod compare;
mod db_bench;
mod process;
mod sysbench;
mod tables;
mod times;

pub(crate) use compare::compare;
