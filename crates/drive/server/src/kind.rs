//! What differs from one server to the next.

use std::path::{Path, PathBuf};

use engine::EngineError;
use model::{Endpoint, Options, Settings};

/// The directories of one server, all below `dir`; they belong to the user it runs as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The data directory; empty before set-up.
    pub data: PathBuf,
    /// Directory of the unix socket; its path is short enough for one (107 bytes with the name).
    pub socket: PathBuf,
    /// Directory of temporary files.
    pub temporary: PathBuf,
    /// The server's log, where everything it says is kept.
    pub log: PathBuf,
    /// Number that tells servers apart whose sockets are named by a port.
    pub port: u16,
    /// Name of the user the server runs as.
    pub user: String,
}

/// What a server is asked to be.
#[derive(Debug, Clone, Copy)]
pub struct ServerSpec<'a> {
    /// The server's program: `.../bin/postgres`, `.../bin/mysqld`.
    pub program: &'a Path,
    /// What the program says of its version (`--version`), in one line.
    pub version: &'a str,
    /// Its directories.
    pub site: &'a Site,
    /// Settings that mean the same for every engine.
    pub settings: &'a Settings,
    /// Options under the server's own names (`postgresql.conf`, `my.cnf`); they win over settings.
    pub options: &'a Options,
}

/// A program to run as the server's user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Task {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Environment variables beside the inherited ones.
    pub environment: Vec<(String, String)>,
    /// What it reads on its standard input.
    pub input: String,
    /// Files to write before it is run, with their text.
    pub files: Vec<(PathBuf, String)>,
}

/// How a server is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// SIGTERM.
    Terminate,
    /// SIGINT: Postgres' fast shutdown.
    Interrupt,
}

/// One kind of server.
pub trait Kind: Send + Sync {
    /// Returns the engine's name: `postgres`.
    fn engine(&self) -> &'static str;

    /// Returns what must be in the environment for `program` to run at all, as for `--version`.
    fn environment(&self, _program: &Path) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns the programs that make an empty data directory, in order; each must succeed.
    ///
    /// # Errors
    /// [`EngineError::Option`] for an option refused, [`EngineError::Unsupported`] for a setting
    /// that the server lacks.
    fn set_up(&self, ask: &ServerSpec<'_>) -> Result<Vec<Task>, EngineError>;

    /// Returns the server's own program with its arguments.
    ///
    /// # Errors
    /// As [`Kind::set_up`].
    fn serve(&self, ask: &ServerSpec<'_>) -> Result<Task, EngineError>;

    /// Returns where the server listens once it is ready.
    fn endpoint(&self, site: &Site) -> Endpoint;

    /// Logs in and asks for something trivial: the server is ready when this succeeds.
    ///
    /// # Errors
    /// While it is not.
    fn probe(&self, endpoint: &Endpoint) -> Result<(), EngineError>;

    /// Returns how the server is asked to stop cleanly.
    fn stop(&self) -> Stop;

    /// Returns what the log of a server that did not start says was wrong: the option, when it is
    /// one, in the server's own words.
    fn refusal(&self, log: &str) -> EngineError;

    /// Returns whether a file below the data directory, by its path from there, belongs to the
    /// write-ahead log or binary log.
    fn is_log(&self, path: &Path) -> bool;
}
