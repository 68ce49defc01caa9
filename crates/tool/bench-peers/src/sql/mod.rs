//! Our SQL clients compared with pgbench and sysbench.
//!
//! One server, one table, one statement, one CPU. Compared is the client CPU per statement of the
//! whole process, as the slope between two statement counts, which cancels start-up. Next to it
//! stand the server's CPU per statement and the throughput, because a client that requests less of
//! its server would seem cheaper than it is; and the CPU of an exchange without work, the floor of
//! any client that waits for each answer. Client and server share one CPU, our choice: on two, each
//! request costs an inter-processor wakeup on both sides (measured on a virtual machine: client CPU
//! of 25 us and more per select instead of 3), which hides the client.
//!
//! Each comparison is skipped, with the reason, where its peer or its server is missing. To add a
//! peer: a file with its [`comparison::Comparison`], and its line in [`registry::COMPARISONS`].
//! To add a statement: [`work::WORKS`], and its text in each comparison.

mod application;
mod compare;
mod comparison;
mod cpu;
mod echo;
mod host;
mod ours;
mod pairs;
mod pgbench;
mod registry;
mod sysbench;
mod tables;
mod work;

pub(crate) use compare::compare;
pub(crate) use echo::{ECHO, echo};
pub(crate) use ours::{Job, OURS_SQL, execute};
