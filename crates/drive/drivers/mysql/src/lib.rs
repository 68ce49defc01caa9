//! The driver of MySQL and MariaDB over a blocking client.
//!
//! No pool and no mapper: a session is one connection that executes prepared statements (or, as
//! an option, statements as text) and skips through the rows of their answers. Any server of the
//! protocol works. The crate stands between `engine`, whose contract it implements, and a running
//! server; [`KIND_MYSQL`] and [`KIND_MARIADB`] describe how crate `server` sets up and starts one.
//!
//! Invariants: one write and as few reads as possible per statement, or per pipelined batch; no
//! allocation once the buffers have grown; a statement whose connection was lost has failed and is
//! never repeated; only tables named in the marker table are ever dropped.
//!
//! To add a counter: a line of `state/counters.rs`. To add a setting: `kind/settings.rs`.

mod command;
mod config;
mod driver;
mod in_flight;
mod instance;
mod key_value;
mod kind;
mod maintenance;
mod procedure;
mod session;
mod state;
mod tables;
mod wire;

pub use driver::{driver, mariadb};
pub use kind::{KIND_MARIADB, KIND_MYSQL};
