//! What a SQL peer is, and the statements.

use std::path::{Path, PathBuf};

use model::sql::{Dialect, Draw};
use model::{Address, Endpoint};
use server::Kind;

use crate::pairs::Done;
use crate::process::Result;

/// Rows of the table: pgbench's scale 1.
pub(super) const ROWS: u64 = 100_000;

/// A build of a server, such as `postgres@15.10`, and its kind.
type Build = (&'static str, fn() -> &'static dyn Kind);
/// Returns the arguments that execute a statement so often; the last parameter is a directory for
/// files.
type Args = fn(&Endpoint, (&Statement, u64), &Path) -> Result<Vec<String>>;

/// A peer, and how it and our driver are run.
pub(super) struct Peer {
    /// Its name.
    pub(super) name: &'static str,
    /// Finds its program, not a start script, or returns how to install it.
    pub(super) find: fn() -> std::result::Result<PathBuf, String>,
    /// The dialect of its servers.
    pub(super) dialect: Dialect,
    /// Builds of servers; the first available one is used.
    pub(super) builds: &'static [Build],
    /// Options of the server, under its own names.
    pub(super) options: &'static [(&'static str, &'static str)],
    /// Target: our client CPU of a point select relative to the peer's, at most.
    pub(super) target: f64,
    /// Returns the arguments that create the table; the last parameter is a directory for files.
    pub(super) fill: fn(&Endpoint, &Path) -> Result<Vec<String>>,
    /// Returns the arguments that execute a statement.
    pub(super) args: Args,
    /// Parses the statements executed without an error, and their rate.
    pub(super) parse: fn(&str) -> Result<Done>,
    /// The statements: a point select and an update by primary key, not synced.
    pub(super) statements: fn() -> [Statement; 2],
}

/// A statement of a peer.
pub(super) struct Statement {
    /// Its name in the report.
    pub(super) name: &'static str,
    /// Whether it updates a column without an index.
    pub(super) is_update: bool,
    /// Executions of the longer process: one to three seconds.
    pub(super) count: u64,
    /// SQL text for our driver, in which each `?` is the next value.
    pub(super) sql: &'static str,
    /// Draws of the values.
    pub(super) values: Vec<Draw>,
}

impl Statement {
    pub(super) const fn select(sql: &'static str, values: Vec<Draw>) -> Self {
        Self { name: "point select", is_update: false, count: 82_000, sql, values }
    }

    pub(super) const fn update(sql: &'static str, values: Vec<Draw>) -> Self {
        Self { name: "update", is_update: true, count: 42_000, sql, values }
    }
}

/// Returns a uniform draw of `count` integers from `from` on.
pub(super) fn integer(from: i64, count: u64) -> Draw {
    Draw::Integer { distribution: "uniform".to_owned(), from, count }
}

/// Returns the password of a server.
pub(super) fn password_of(endpoint: &Endpoint) -> &str {
    endpoint.password.as_ref().map_or("", |password| &password.0)
}

/// Returns the socket of a server; empty for one without.
pub(super) fn socket_of(endpoint: &Endpoint) -> &Path {
    match &endpoint.address {
        Address::Socket(path) => path,
        Address::Tcp { .. } => Path::new(""),
    }
}
