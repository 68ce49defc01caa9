//! The driver of Postgres over a blocking client.
//!
//! No general client: it sends what a benchmark needs. Any server of the protocol
//! works. The crate is the protocol, identity, state and maintenance below `driver_sql`, whose
//! invariants hold; to `server`, [`PostgresKind`] describes set-up and start. The program's
//! registry names [`driver()`] and [`KIND`].
//!
//! | durability | Postgres | what a commit does |
//! |---|---|---|
//! | `none` | `synchronous_commit=off` | answers while the WAL is in the server's memory |
//! | `os` | `synchronous_commit=on`, `fsync=off` | the WAL is written to the file, never synced |
//! | `sync` | `synchronous_commit=on`, `fsync=on` | the same, then the WAL is synced |
//!
//! A foreign server has its own `fsync`, so `os` may be stronger there.
//!
//! Invariant: options that begin with `assay` never reach a server.
//!
//! To add a counter, add its column to the query in `state.rs`.

mod conditions;
mod config;
mod describe;
mod driver;
mod durability;
mod installation;
mod instance;
mod kind;
mod logins;
mod needs;
mod plans;
mod reach;
mod standby;
mod startup_error;
mod state;
mod tables;
mod task;
mod waits;
mod wire;

pub use driver::{DRIVER, driver};
pub use kind::{KIND, PostgresKind};
pub use reach::REACH;
