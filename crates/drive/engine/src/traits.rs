//! The traits of a system under test.

use std::path::PathBuf;
use std::sync::Arc;

use model::capability::Feature;
use model::sql::Copies;
use model::{
    Application, Bounds, Capabilities, DataShape, Endpoint, EngineState, Identity, Op, Options,
    Outcome, Settings,
};

use crate::error::EngineError;
use crate::rows::Rows;

/// Everything an engine needs to open its data.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSpec {
    /// Directory of the data; it exists and, for fresh data, is empty.
    pub dir: PathBuf,
    /// Settings that mean the same for every engine.
    pub settings: Settings,
    /// Options under the engine's own names; they win over `settings`.
    pub options: Options,
    /// Rows to expect, for engines that size themselves beforehand.
    pub data: DataShape,
    /// Where the server listens, for engines that are one; `None` for those in this process.
    pub endpoint: Option<Endpoint>,
    /// What is asked of it beside keys and values, and for how many clients at most.
    pub application: Option<ApplicationSetup>,
}

impl OpenSpec {
    /// Returns what opens an engine in this process without options.
    #[must_use]
    pub fn embedded(dir: PathBuf, settings: Settings, data: DataShape) -> Self {
        Self { dir, settings, options: Options::new(), data, endpoint: None, application: None }
    }
}

/// An application, and how many clients will call it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSetup {
    /// The application.
    pub application: Arc<Application>,
    /// Most clients of any step: each has its own copy of tables that are per client.
    pub clients: u32,
}

impl ApplicationSetup {
    /// Returns how many copies there are of the table at `position`.
    #[must_use]
    pub fn copies(&self, position: u16) -> u32 {
        match self.application.tables.get(usize::from(position)).map(|table| table.copies) {
            Some(Copies::PerClient) => self.clients,
            Some(Copies::Fixed(count)) => count,
            None => 0,
        }
    }
}

/// Ability: the engine's answers can be checked; there unless denied.
pub const ANSWERS: &str = "answers";

/// Ability: range reads go downwards, too; there unless denied.
pub const REVERSE_SCANS: &str = "reverse_scans";

/// Returns whether the build reads ranges downwards, unless it denies [`REVERSE_SCANS`].
#[must_use]
pub fn scans_in_reverse(capabilities: &Capabilities) -> bool {
    !matches!(capabilities.features.get(REVERSE_SCANS), Some(Feature::No(_)))
}

/// Ability: a session takes operations ahead, see [`Pipeline`]; absent unless told.
pub const PIPELINING: &str = "pipelining";

/// Returns whether the build's answers can be checked.
///
/// They can unless it denies [`ANSWERS`], as `null` does: checks are then switched off.
#[must_use]
pub fn gives_answers(capabilities: &Capabilities) -> bool {
    !matches!(capabilities.features.get(ANSWERS), Some(Feature::No(_)))
}

/// One engine build, ready to open data.
///
/// ```
/// use engine::{Driver, OpenSpec, Rows, memory::MemoryDriver};
/// use model::{DataShape, Op, Outcome, Settings};
///
/// let dir = tempfile::tempdir().expect("a directory");
/// let data = DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 0.5 };
/// let spec = OpenSpec::embedded(dir.path().to_owned(), Settings::default(), data);
/// let engine = MemoryDriver.open(&spec)?;
/// let mut session = engine.session()?;
/// let mut rows = Rows::new();
/// session.execute(&Op::Put { key: b"k", value: b"v" }, &mut rows)?;
/// rows.clear(true);
/// assert_eq!(session.execute(&Op::Get { key: b"k" }, &mut rows)?, Outcome::Done);
/// assert_eq!(rows.stored().next(), Some((&b"k"[..], &b"v"[..])));
/// drop(session);
/// engine.close()?;
/// # Ok::<(), engine::EngineError>(())
/// ```
pub trait Driver: Send + Sync {
    /// Returns what is known of the build before it is opened.
    fn identity(&self) -> Identity;

    /// Returns what the build can do.
    fn capabilities(&self) -> Capabilities;

    /// Opens the data in `spec.dir`, creating it when the directory is empty.
    ///
    /// # Errors
    /// [`EngineError::Option`] for an unknown or refused option, [`EngineError::Unsupported`] for
    /// a setting the build lacks, [`EngineError::Fatal`] for everything else.
    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError>;
}

/// Work an engine can be told to do between steps; it may go on after the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maintenance {
    /// Write what is buffered in memory to its place (memtable flush, checkpoint, sync).
    Flush,
    /// Move the files of level 0 to the next level that is not empty.
    CompactLevel0,
    /// Compact everything.
    CompactAll,
    /// Reclaim what deleted and replaced rows have left, and renew the planner's statistics.
    Clean,
}

/// An open engine.
pub trait Engine: Send + Sync {
    /// Returns a handle for one client; called on the client's own thread, used only there.
    ///
    /// # Errors
    /// When the engine has no more room for clients.
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError>;

    /// Returns what the build turned out to be: version and build facts from the engine itself.
    fn identity(&self) -> Identity;

    /// Returns the configuration in force, read back from the engine under its own names.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn effective_options(&self) -> Result<Options, EngineError>;

    /// Starts `work`; returns `false` when the engine has no such work to do.
    ///
    /// # Errors
    /// When the engine refuses or fails.
    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError>;

    /// Returns the engine's state. Cheap enough to be called once a second.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn state(&self) -> Result<EngineState, EngineError>;

    /// Returns the engine's own statistics as text, for the archive; `None` when it has none.
    fn statistics_text(&self) -> Option<String> {
        None
    }

    /// Returns the engine's own log and option files, to be archived with the run.
    fn own_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the ids in copy `number` (from 0) of the application's table at `table`; `None`
    /// when the engine has no tables or this one assigns no ids.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn bounds(&self, _table: u16, _number: u32) -> Result<Option<Bounds>, EngineError> {
        Ok(None)
    }

    /// Returns the rows of copy `number` of the application's table at `table`, counted; `None`
    /// when the engine has no tables.
    ///
    /// # Errors
    /// When the engine does not answer.
    fn count_rows(&self, _table: u16, _number: u32) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }

    /// Closes the engine cleanly.
    ///
    /// # Errors
    /// When data could not be brought to its place.
    fn close(self: Box<Self>) -> Result<(), EngineError>;
}

/// One client's handle. Neither `Send` nor `Sync` is asked of it.
pub trait Session {
    /// Executes one operation; rows of a read go to `rows` in the order they are found.
    ///
    /// On the hot path: no clock, no lock of ours, no allocation of ours. `rows` is cleared by
    /// the caller. A read that finds nothing is `Ok(Outcome::NotFound)`.
    ///
    /// # Errors
    /// When the operation was not done.
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError>;

    /// Returns the same handle as one that takes operations ahead; `None` when each must be
    /// answered before the next.
    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        None
    }
}

/// A session that takes operations before those taken earlier are answered, and answers in order.
///
/// Between the first operation taken and the last answer, [`Session::execute`] is not called.
pub trait Pipeline: Session {
    /// Takes one operation; it may be sent at once or with others, in [`Pipeline::complete`] at
    /// the latest.
    ///
    /// Returns `false`, and has taken nothing, when the operation cannot be in flight with others
    /// (one of several statements; one whose statement is not prepared yet): it is to be executed
    /// when everything is answered. On the hot path: no clock, no allocation of ours.
    ///
    /// # Errors
    /// When the operation cannot be sent; it is not in flight then.
    fn submit(&mut self, op: &Op<'_>) -> Result<bool, EngineError>;

    /// Returns whether [`Pipeline::complete`] has something to read, and so will hardly wait.
    fn has_answer(&mut self) -> bool;

    /// Waits for the answer to the oldest operation in flight; its rows are counted in `rows`,
    /// which is cleared by the caller, and never kept.
    ///
    /// # Errors
    /// When that operation was not done. Those behind it are still in flight, and each of them
    /// fails too when the connection is lost.
    fn complete(&mut self, rows: &mut Rows) -> Result<Outcome, EngineError>;
}

/// Refuses every option, for an engine that has none.
pub(crate) fn refuse_options(engine: &str, options: &Options) -> Result<(), EngineError> {
    match options.iter().next() {
        None => Ok(()),
        Some((name, _)) => Err(EngineError::Option {
            option: name.to_owned(),
            reason: format!("{engine} has no options: remove it"),
        }),
    }
}
