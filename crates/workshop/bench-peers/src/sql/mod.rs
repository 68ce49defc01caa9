//! Our SQL clients compared with pgbench and sysbench.
//!
//! One server, one table, one statement, one CPU. Client and server share one CPU, our choice: on
//! two, each request costs an inter-processor wakeup on both sides (measured on a virtual machine:
//! client CPU of 25 us and more per select instead of 3), which hides the client. What the wall
//! time has beyond the client's CPU is the server's: a client that requests less of its server
//! would seem cheaper than it is.
//!
//! Each comparison is skipped, with the reason, where its peer or its server is missing. To add a
//! peer: a file with its [`peer::Peer`], and its place in [`compare::compare`].

mod application;
mod compare;
mod host;
mod peer;
mod pgbench;
mod sysbench;

pub(crate) use compare::compare;
