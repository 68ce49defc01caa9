//! One SQL comparison: a peer and our driver on one server.

use std::path::{Path, PathBuf};

use engine::Driver;
use model::Endpoint;
use serde::{Deserialize, Serialize};
use server::Kind;

use super::application::StatementSpec;
use super::work::Statement;

/// Arguments of a command, or an error.
pub(super) type Args = Result<Vec<String>, String>;

/// A peer, and how it and our driver are run.
pub(super) struct Comparison {
    /// The peer's name.
    pub(super) peer: &'static str,
    /// Debian's package that has it.
    pub(super) package: &'static str,
    /// Returns our driver of the same servers.
    pub(super) driver: fn() -> Box<dyn Driver>,
    /// Builds of servers; the first available one is used.
    pub(super) builds: &'static [Build],
    /// Target: our client CPU per statement relative to the peer's, at most.
    pub(super) target: f64,
    /// Options of the server, under its own names.
    pub(super) options: &'static [(&'static str, &'static str)],
    /// Finds the peer's program, not a start script; `None` when missing.
    pub(super) find: fn() -> Option<PathBuf>,
    /// Returns the arguments that create the table.
    pub(super) fill: fn(&Endpoint) -> Args,
    /// Returns the arguments that execute a statement so often; the last parameter is a
    /// directory for files.
    pub(super) args: fn(&Endpoint, (Statement, u64), &Path) -> Args,
    /// Parses the statements executed without an error, and their rate.
    pub(super) parse: fn(&str) -> Result<Done, String>,
    /// Returns the same statement for our driver.
    pub(super) statement_spec: fn(Statement) -> StatementSpec,
}

/// A build of a server.
#[derive(Clone, Copy)]
pub(super) struct Build {
    /// Its name: `postgres@15.10`.
    pub(super) name: &'static str,
    /// Returns its server kind.
    pub(super) kind: fn() -> &'static dyn Kind,
}

/// The result of a client.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Statements.
    pub(crate) statements: u64,
    /// Statements per second, without start-up.
    pub(crate) per_s: f64,
}
