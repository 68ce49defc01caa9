//! Our SQL clients beside pgbench and sysbench: one server, one table, one statement, one CPU.
//!
//! What is compared is the client: CPU per statement of the whole process, start-up taken away by
//! the slope between two numbers of statements. The server's CPU per statement and the throughput
//! are shown beside it, because a client that asks less of its server would look better than it
//! is; and what an exchange without work takes, because no client that waits for each answer can
//! go below that. Client and server share one CPU, as the project's reference, servers, section
//! 0, demands.
//!
//! Each duel is skipped, with the reason, where its peer or its server cannot be had. To add a
//! peer: a file with its [`duel::Duel`], and its line in [`duel::DUELS`]. To add a statement:
//! [`work::WORKS`], and what each duel says of it.

mod application;
mod compare;
mod cost;
mod duel;
mod floor;
mod host;
mod ours;
mod pgbench;
mod race;
mod sysbench;
mod tables;
mod work;

pub(crate) use compare::compare;
pub(crate) use floor::echo;
pub(crate) use ours::{Job, execute};
