//! The driver of Postgres over a blocking client.
//!
//! No general client: it sends what a benchmark needs, without TLS. Any server of the protocol
//! works. It stands below `engine`, whose traits it implements, and `server`, to which
//! [`PostgresKind`] describes set-up and start. The program's registry names [`driver()`] and
//! [`KIND`].
//!
//! | durability | Postgres | what a commit does |
//! |---|---|---|
//! | `none` | `synchronous_commit=off` | answers while the WAL is in the server's memory |
//! | `os` | `synchronous_commit=on`, `fsync=off` | the WAL is written to the file, never synced |
//! | `sync` | `synchronous_commit=on`, `fsync=on` | the same, then the WAL is synced |
//!
//! Class `none` leaves `fsync=on`, so its WAL writer and checkpoints do sync: published results
//! call this "commit not synced". Class `os` syncs nothing at all, as SQLite's does. A foreign
//! server has its own `fsync`, so `os` may be stronger there.
//!
//! Keys and values are the table `assay_kv(k bytea PRIMARY KEY, v bytea)`; each operation is an
//! autocommitted statement. Values beyond 2 kB go to the table's TOAST relation, compressed unless
//! `compression = "none"`.
//!
//! Invariants: after the first few operations a session allocates nothing; one operation is one
//! write and, unless the answer is long, one read; transactions and multi-statement procedures are
//! one round trip per statement; pipelines are sent and read in batches; a statement that failed
//! is never sent again; options that begin with `assay.` never reach a server.
//!
//! To add a counter, add its column to the query in `state.rs`.

mod config;
mod describe;
mod driver;
mod error;
mod in_flight;
mod instance;
mod key_value;
mod kind;
mod link;
mod procedure;
mod session;
mod state;
mod tables;
mod value;
mod wire;

pub use driver::{PostgresDriver, driver};
pub use kind::{KIND, PostgresKind};
