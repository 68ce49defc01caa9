//! The driver of MySQL and MariaDB over a blocking client.
//!
//! No pool and no mapper: a session is one connection that executes prepared statements (or, as
//! an option, statements as text) and skips through the rows of their answers. Any server of the
//! protocol works. The crate is the protocol, identity, state and maintenance below `driver_sql`,
//! whose invariants hold; [`KIND_MYSQL`] and [`KIND_MARIADB`] describe how crate `server` sets up
//! and starts a server.
//!
//! To add a counter: a line of `state/counters.rs`. To add a setting: `kind/settings.rs`.

mod conditions;
mod config;
mod database;
mod driver;
mod durability;
mod instance;
mod kind;
mod limits;
mod maintenance;
mod reach;
mod standby_status;
mod state;
mod wire;

pub use driver::{driver, mariadb};
pub use kind::{KIND_MARIADB, KIND_MYSQL};
pub use reach::REACH;
