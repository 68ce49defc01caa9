//! The server kind: commands, endpoint, probe and log parsing.

use std::path::{Path, PathBuf};

use engine::EngineError;
use engine::settings_check::refused;
use model::server::REPLICA;
use model::{
    Address, Endpoint, LoginOptions, Options, Password, ServerLoad, Settings, SystemNeeds,
    Transport,
};

use crate::listen_address::ListenAddress;

/// Directories and password of one server.
///
/// The data, sockets and temporary files belong to its account; the directory above them, with log
/// and configuration, does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Site {
    /// The data directory; empty before set-up.
    pub data: PathBuf,
    /// Directory of the unix socket, short enough for `sun_path` (107 bytes).
    pub socket: PathBuf,
    /// Directory of temporary files.
    pub temporary: PathBuf,
    /// The server's log: its standard output and error.
    pub log: PathBuf,
    /// Port number, for TCP and for servers that name their socket by it.
    pub port: u16,
    /// How clients connect.
    pub transport: Transport,
    /// Where clients on other machines reach it; `None` without such.
    pub address: Option<ListenAddress>,
    /// Password of its superuser, drawn for it.
    pub password: Password,
}

/// The only address at which a server without clients on other machines listens for TCP.
pub const LOOPBACK: &str = "127.0.0.1";

impl Site {
    /// Returns where the server listens, given its socket, and how the superuser logs in.
    pub fn endpoint(&self, socket: PathBuf, user: &str, database: &str) -> Endpoint {
        Endpoint {
            address: match self.transport {
                Transport::Unix => Address::Socket(socket),
                Transport::Tcp => Address::tcp(self.host(), self.port),
            },
            user: user.to_owned(),
            password: Some(self.password.clone()),
            database: database.to_owned(),
            is_foreign: false,
            login: LoginOptions::default(),
        }
    }

    /// Returns the address at which the server listens for TCP.
    pub fn ip(&self) -> String {
        self.address.as_ref().map_or_else(|| LOOPBACK.to_owned(), |it| it.ip.to_string())
    }

    /// Returns the host to which clients connect by TCP.
    pub(crate) fn host(&self) -> &str {
        self.address.as_ref().map_or(LOOPBACK, |it| &it.host)
    }

    /// Returns the path of a configuration file: outside the directories that the server can write.
    pub fn file(&self, name: &str) -> PathBuf {
        self.log.with_file_name(name)
    }
}

/// Specification of a server to start.
#[derive(Debug, Clone, Copy)]
pub struct ServerSpec<'a> {
    /// The server's program: `.../bin/postgres`, `.../bin/mysqld`.
    pub program: &'a Path,
    /// First line of the program's `--version`.
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
    /// Environment variables added to the inherited ones.
    pub environment: Vec<(String, String)>,
    /// Text of its standard input.
    pub input: String,
    /// As `input`, but with a password in it.
    pub secret_input: Option<Password>,
    /// Files to write before it is run, with their text; each is a [`Site::file`].
    pub files: Vec<(PathBuf, String)>,
    /// As `files`, but read by its account only and removed once the task has read them.
    pub secrets: Vec<(PathBuf, Password)>,
}

/// The signal for a clean stop.
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

    /// Returns the environment that `program` needs to run at all, as for `--version`.
    fn environment(&self, _program: &Path) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns the characters that mean something else in the paths of its directories.
    fn reserved_in_paths(&self) -> &'static [char] {
        &['\n']
    }

    /// Returns the version text of a release, as far as its name shows it: `15.10`.
    fn version_text(&self, release: &str) -> String {
        release.to_owned()
    }

    /// Checks that Assay can run a release, by the first line of its program's `--version`.
    ///
    /// # Errors
    /// The reason, with the releases that it can run.
    fn check_release(&self, _version: &str) -> Result<(), String> {
        Ok(())
    }

    /// Checks a release by its name, before anything of it is here.
    ///
    /// A name such as `mine` or `16` shows no release.
    ///
    /// # Errors
    /// As [`Kind::check_release`].
    fn check_name(&self, name: &str) -> Result<(), String> {
        let is_release = name.contains('.') && name.split('.').all(|it| it.parse::<u32>().is_ok());
        if is_release { self.check_release(&self.version_text(name)) } else { Ok(()) }
    }

    /// Checks that the files of an installation are there which set-up and server read.
    ///
    /// `version` is the first line of the program's `--version`.
    ///
    /// # Errors
    /// The missing file with the remedy.
    fn check_files(&self, _program: &Path, _version: &str) -> Result<(), String> {
        Ok(())
    }

    /// Returns whether set-up programs read the name of their account.
    fn needs_account_name(&self) -> bool {
        false
    }

    /// Returns what the server needs of the system's limits with these options.
    fn needs(&self, _options: &Options, _load: &ServerLoad) -> SystemNeeds {
        SystemNeeds::default()
    }

    /// Returns what the server does without, and why, as the log of its start states it.
    ///
    /// # Errors
    /// [`EngineError::Refused`] where one of the options demands what it does without.
    fn fallback(&self, _options: &Options, _log: &str) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// Returns the programs that make an empty data directory, in order; each must succeed.
    ///
    /// What those make that precede the first with a [`Task::secret_input`] is stored, and copied
    /// for the next server: no password that is in force may be in it.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for an option or a setting
    /// that the server lacks.
    fn set_up(&self, spec: &ServerSpec<'_>) -> Result<Vec<Task>, EngineError>;

    /// Returns the server's own program with its arguments.
    ///
    /// # Errors
    /// As [`Kind::set_up`].
    fn serve(&self, spec: &ServerSpec<'_>) -> Result<Task, EngineError>;

    /// Returns where the server listens once it is ready.
    fn endpoint(&self, site: &Site) -> Endpoint;

    /// Logs in and runs a trivial statement: success means ready.
    ///
    /// # Errors
    /// While it is not.
    fn probe(&self, endpoint: &Endpoint) -> Result<(), EngineError>;

    /// Returns the programs of a standby with its directories `site`: one that copies the data of
    /// the stopped server, and the standby itself.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for a kind or settings without standby.
    fn standby(&self, _spec: &ServerSpec<'_>, _site: &Site) -> Result<[Task; 2], EngineError> {
        Err(refused(
            REPLICA,
            "Assay does not start standbys of this kind of server: remove the option",
        ))
    }

    /// Makes the server ready for its standby; success means that the standby follows it.
    ///
    /// # Errors
    /// While it does not.
    fn follow(
        &self,
        _server: &Endpoint,
        _standby: &Endpoint,
        _options: &Options,
    ) -> Result<(), EngineError> {
        Ok(())
    }

    /// Promotes a standby whose server has ended; success means that it takes writes.
    ///
    /// # Errors
    /// While it does not, and for a kind without standby.
    fn promote(&self, _standby: &Endpoint) -> Result<(), EngineError> {
        Err(refused(REPLICA, "Assay does not promote standbys of this kind of server"))
    }

    /// Returns the signal of a clean stop.
    fn stop(&self) -> Stop;

    /// Returns the error in the log of a server that did not start: the option, when it is one,
    /// with the server's message.
    fn startup_error(&self, log: &str) -> EngineError;

    /// Returns whether a file below the data directory, by its path from there, belongs to the
    /// write-ahead log or binary log.
    fn is_log(&self, path: &Path) -> bool;
}
