//! Drives MySQL and MariaDB, and whatever speaks their protocol, over a thin blocking client.
//!
//! It is neither a pool nor a mapper: a session is one connection that executes prepared
//! statements (or, when asked, statements as text) and skips through the rows of their answers.
//! It stands between `engine`, whose contract it implements, and a server that listens already;
//! how a server is set up and started is told by [`KIND_MYSQL`] and [`KIND_MARIADB`], and done by
//! crate `server`.
//!
//! Invariants: one write and as few reads as possible for a statement, or for a batch of those
//! sent ahead; no allocation once the
//! buffers have grown; a statement whose connection was lost has failed and is never repeated;
//! only tables that the marker table names as ours are ever dropped.
//!
//! To add a counter: a line of `state/names.rs`. To add a setting: `kind/settings.rs`.

mod call;
mod command;
mod config;
mod driver;
mod flight;
mod instance;
mod key_value;
mod kind;
mod session;
mod state;
mod tables;
mod upkeep;
mod wire;

pub use driver::{driver, mariadb};
pub use kind::{KIND_MARIADB, KIND_MYSQL};
