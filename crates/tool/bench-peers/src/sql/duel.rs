//! A peer and our driver of the same kind of server.

use std::path::{Path, PathBuf};

use engine::Driver;
use model::Endpoint;
use serde::{Deserialize, Serialize};
use server::Kind;

use super::application::Ask;
use super::work::Statement;
use super::{pgbench, sysbench};

/// Words of a command, or why there are none.
pub(super) type Words = Result<Vec<String>, String>;

/// One peer, and what it and our driver are compared on.
pub(super) struct Duel {
    /// The peer's name.
    pub(super) peer: &'static str,
    /// Debian's package that has it.
    pub(super) package: &'static str,
    /// Returns our driver of the same servers.
    pub(super) driver: fn() -> Box<dyn Driver>,
    /// Builds of servers, the first that can be had is taken.
    pub(super) builds: &'static [Build],
    /// Most client CPU per statement that ours may take of the peer's.
    pub(super) target: f64,
    /// Options of the server, under its own names.
    pub(super) options: &'static [(&'static str, &'static str)],
    /// Returns the peer's program, not a script that starts it; `None` where there is none.
    pub(super) find: fn() -> Option<PathBuf>,
    /// Returns the words, after the program, that make the table.
    pub(super) fill: fn(&Endpoint) -> Words,
    /// Returns the words, after the program, that execute a statement so often; the last is a
    /// directory for files.
    pub(super) words: fn(&Endpoint, (Statement, u64), &Path) -> Words,
    /// Reads how many statements were executed without an error, and how many a second.
    pub(super) parse: fn(&str) -> Result<Done, String>,
    /// Returns what our driver is asked for the same.
    pub(super) ask: fn(Statement) -> Ask,
}

/// A build of a server.
#[derive(Clone, Copy)]
pub(super) struct Build {
    /// Its name: `postgres@15.10`.
    pub(super) name: &'static str,
    /// Returns what is known of servers of its kind.
    pub(super) kind: fn() -> &'static dyn Kind,
}

/// What a client has done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Statements.
    pub(crate) statements: u64,
    /// Statements per second, without start-up.
    pub(crate) per_s: f64,
}

/// Everything that is compared.
pub(super) const DUELS: [&Duel; 2] = [&pgbench::DUEL, &sysbench::DUEL];
