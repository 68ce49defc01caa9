//! Postgres, and whatever speaks its protocol, over a thin blocking client of our own.
//!
//! It is no general client: it sends what a benchmark needs, and speaks no TLS. It stands below
//! `engine`, whose traits it implements, and `server`, to which it tells how a Postgres is made
//! and started ([`PostgresKind`]). The program's registry names [`driver()`] and [`KIND`].
//!
//! | durability | Postgres | what a commit does |
//! |---|---|---|
//! | `none` | `synchronous_commit=off` | answers while the WAL is in the server's memory |
//! | `os` | `synchronous_commit=on`, `fsync=off` | the WAL is written to the file, never synced |
//! | `sync` | `synchronous_commit=on`, `fsync=on` | the same, then the WAL is synced |
//!
//! Class `none` keeps `fsync=on`, so its WAL writer and checkpoints do sync: it is what published
//! results call "commit not synced". Class `os` syncs nothing at all, as SQLite's does. On a
//! server that Assay did not start `fsync` is what its owner says, so `os` may give more.
//!
//! Keys and values are the table `assay_kv(k bytea PRIMARY KEY, v bytea)`; each operation is a
//! statement that commits by itself. Values beyond 2 kB go to the table's TOAST relation,
//! compressed, unless `compression = "none"` is asked for.
//!
//! Invariants: after the first few operations a session allocates nothing; one operation is one
//! write and, unless the answer is long, one read, but for transactions and procedures of
//! several statements, which are one round trip for each, and pipelines, whose statements go and
//! come in batches; a statement that failed is never sent
//! again; options that begin with `assay.` never reach a server.
//!
//! To add a counter, add its column to the query in `counters.rs`.

mod config;
mod counters;
mod describe;
mod driver;
mod error;
mod flight;
mod instance;
mod key_value;
mod kind;
mod link;
mod procedure;
mod refusal;
mod session;
mod tables;
mod value;
mod wire;

pub use driver::{PostgresDriver, driver};
pub use kind::{KIND, PostgresKind};
