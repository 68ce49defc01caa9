//! The traits of a system under test.

use std::path::PathBuf;

use model::capability::Feature;
use model::units::parse_size;
use model::{
    Capabilities, DataShape, Direction, DurabilityRecord, Endpoint, EngineState, Identity, Need,
    Op, OpKind, Options, Outcome, Settings,
};

use crate::background::background_threads;
use crate::error::{EngineError, Result};
use crate::lock_waits::LockWaits;
use crate::rows::Rows;
use crate::server_side::{ApplicationSetup, ServerSide};
use crate::way::Way;

/// Everything an engine needs to open its data.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSpec {
    /// Directory of the data; it exists and, for fresh data, is empty.
    pub dir: PathBuf,
    /// Settings that mean the same for every engine.
    pub settings: Settings,
    /// Options under the engine's own names; they override `settings`.
    pub options: Options,
    /// Rows to expect, for engines that size themselves beforehand.
    pub data: DataShape,
    /// Address of a server engine; `None` for an embedded one.
    pub endpoint: Option<Endpoint>,
    /// The SQL application to set up, for engines that run one.
    pub application: Option<ApplicationSetup>,
}

impl OpenSpec {
    /// Returns the spec of an embedded engine without options.
    pub const fn embedded(dir: PathBuf, settings: Settings, data: DataShape) -> Self {
        Self { dir, settings, options: Options::new(), data, endpoint: None, application: None }
    }

    /// Returns the size that an option has, or its default.
    pub fn size(&self, option: &str, default: u64) -> u64 {
        let text = self.options.get(option);
        text.and_then(|text| parse_size(text).ok()).map_or(default, |size| size.0)
    }

    /// Returns how much of a cache the rows fill, by the option of its size, the setting, or the
    /// default.
    pub fn cached(&self, option: &str, default: u64) -> u64 {
        let setting = self.settings.cache_bytes.map_or(default, |cache| cache.0);
        self.size(option, setting).min(self.data.live_bytes().0)
    }
}

/// Returns the identity of an engine that is linked into this program.
pub fn linked(engine: &str, version: &str) -> Identity {
    let (engine, version, origin) = (engine.to_owned(), version.to_owned(), "linked".to_owned());
    Identity { engine, version, origin, ..Identity::default() }
}

/// Capability: answers can be checked; present unless denied.
pub const ANSWERS: &str = "answers";

/// Capability: descending range scans; present unless denied.
pub const REVERSE_SCANS: &str = "reverse_scans";

/// Returns whether the build supports [`REVERSE_SCANS`].
pub fn scans_in_reverse(capabilities: &Capabilities) -> bool {
    !matches!(capabilities.features.get(REVERSE_SCANS), Some(Feature::No(_)))
}

/// Capability: pipelined operations, see [`Pipeline`]; absent unless declared.
pub const PIPELINING: &str = "pipelining";

/// Returns whether the build's answers can be checked: `null` denies [`ANSWERS`].
pub fn gives_answers(capabilities: &Capabilities) -> bool {
    !matches!(capabilities.features.get(ANSWERS), Some(Feature::No(_)))
}

/// Files of an engine that has a few, whatever its data: data, log, lock. Our choice.
const FEW_FILES: u64 = 16;

/// One engine build, ready to open a database.
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
    /// Returns the identity known before opening.
    fn identity(&self) -> Identity;

    /// Returns the build's capabilities.
    fn capabilities(&self) -> Capabilities;

    /// Returns the ends of the names of files that are written once and then only removed.
    ///
    /// Such files of a saved database are linked into a run's directory in place of copies.
    fn immutable_files(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns how many threads the engine has of its own; by default those of background work.
    fn own_threads(&self, spec: &OpenSpec) -> u64 {
        background_threads(&spec.settings, &spec.options)
    }

    /// Returns how many files a database has open with so many sessions; by default a few.
    fn open_files(&self, _spec: &OpenSpec, _sessions: u64) -> u64 {
        FEW_FILES
    }

    /// Returns the memory that caches and buffers take, and the option that lowers it; by default
    /// it is not known.
    fn memory(&self, _spec: &OpenSpec) -> Need {
        Need::default()
    }

    /// Returns the address space that the maps of a database's files take; by default none.
    fn mapped_bytes(&self, _spec: &OpenSpec) -> u64 {
        0
    }

    /// Opens the data in `spec.dir`, creating it when the directory is empty.
    ///
    /// # Errors
    /// [`EngineError::Refused`] with the cause, [`EngineError::Fatal`] for everything else.
    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>>;

    /// Opens as [`Driver::open`] does; statements on a server whose other users hold locks wait as
    /// `waits` states, outside of measured spans.
    ///
    /// # Errors
    /// As [`Driver::open`], and [`EngineError::Timeout`] with the session that holds a lock.
    fn open_shared(&self, spec: &OpenSpec, _waits: &LockWaits) -> Result<Box<dyn Engine>> {
        self.open(spec)
    }
}

/// Maintenance work requested between steps.
///
/// It may continue in the background after the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maintenance {
    /// Write buffered data to disk (memtable flush, checkpoint, sync).
    Flush,
    /// Compact level 0 into the next non-empty level.
    CompactLevel0,
    /// Compact everything.
    CompactAll,
    /// Vacuum dead rows and refresh the planner's statistics.
    Clean,
}

/// An open engine.
pub trait Engine: Send + Sync {
    /// Returns a handle for one client; called on the client's own thread, used only there.
    ///
    /// # Errors
    /// When the engine's limit of clients is reached.
    fn session(&self) -> Result<Box<dyn Session + '_>>;

    /// Returns a handle for a background writer; else as [`Engine::session`].
    ///
    /// # Errors
    /// As [`Engine::session`].
    fn writer_session(&self) -> Result<Box<dyn Session + '_>> {
        self.session()
    }

    /// Prepares its sessions for a server that goes away for a while, or for none that does.
    ///
    /// Such a session fails single operations, limits its waits, and connects again at its next
    /// operation, as [`model::ReconnectPolicy::STANDARD`] states. An embedded engine does nothing.
    fn expect_outages(&self, _is_expected: bool) {}

    /// Returns what only a server has: tables, statements and waits; `None` for an embedded engine.
    fn server(&self) -> Option<&dyn ServerSide> {
        None
    }

    /// Returns which lock of another session its clients wait for, as a sentence.
    ///
    /// It connects anew, and answers while every client waits.
    fn lock_wait(&self) -> Option<String> {
        None
    }

    /// Returns whether it executes a statement; a server that does not answer is not busy.
    fn is_busy(&self) -> bool {
        true
    }

    /// Returns version and build facts as reported by the engine.
    fn identity(&self) -> Identity;

    /// Returns how a kind of operation on parts of values is done, as the engine was opened.
    ///
    /// `None` when no option changes what the capabilities report.
    fn way(&self, _kind: OpKind) -> Option<Way> {
        None
    }

    /// Returns the configuration in force, read back from the engine under its own names.
    ///
    /// # Errors
    /// When the engine does not respond.
    fn effective_options(&self) -> Result<Options>;

    /// Returns what the durability class of writes rests on, read back from a session and tables.
    ///
    /// Empty for an engine that refuses every option weaker than its class; the runner adds the
    /// file system of the data.
    ///
    /// # Errors
    /// When the engine does not respond.
    fn durability(&self) -> Result<DurabilityRecord> {
        Ok(DurabilityRecord::default())
    }

    /// Starts `work`; returns `false` when the engine has no such work.
    ///
    /// # Errors
    /// When the engine refuses or fails.
    fn maintain(&self, work: Maintenance) -> Result<bool>;

    /// Returns the engine's state. Cheap enough to be called once a second.
    ///
    /// # Errors
    /// When the engine does not respond.
    fn state(&self) -> Result<EngineState>;

    /// Returns the engine's own statistics as text, for the archive; `None` when it has none.
    fn statistics_text(&self) -> Option<String> {
        None
    }

    /// Returns the engine's own log and option files, to be archived with the run.
    fn own_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Checks that so many clients and writers at once can have sessions.
    ///
    /// # Errors
    /// When a limit of the login or the server leaves too little room, which is named.
    fn check_clients(&self, _clients: u64) -> Result<()> {
        Ok(())
    }

    /// Closes the engine cleanly.
    ///
    /// # Errors
    /// When data could not be written to disk.
    fn close(self: Box<Self>) -> Result<()>;
}

/// One client's handle; it need not be `Send` or `Sync`.
pub trait Session {
    /// Executes one operation; rows of a read go to `rows` in the order they are found.
    ///
    /// Hot path: no clock, lock or allocation in the driver. `rows` is cleared by the caller. A
    /// read that finds nothing is `Ok(Outcome::NotFound)`. A change of a part of a value is counted
    /// in `rows` ([`changed`](crate::parts::changed)); a session without a native way leaves it and
    /// every other operation it does not know to [`parts::execute`](crate::parts::execute).
    ///
    /// # Errors
    /// When the operation failed.
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome>;

    /// Reads one key, as [`Session::execute`] does.
    ///
    /// On the hot path: the caller knows the kind, and the driver need not test for it.
    ///
    /// # Errors
    /// When the operation failed.
    #[inline]
    fn execute_get(&mut self, key: &[u8], rows: &mut Rows) -> Result<Outcome> {
        self.execute(&Op::Get { key }, rows)
    }

    /// Writes one row, as [`Session::execute_get`] reads one.
    ///
    /// # Errors
    /// When the operation failed.
    #[inline]
    fn execute_put(&mut self, key: &[u8], value: &[u8], rows: &mut Rows) -> Result<Outcome> {
        self.execute(&Op::Put { key, value }, rows)
    }

    /// Reads a range, as [`Session::execute_get`] reads one row.
    ///
    /// # Errors
    /// When the operation failed.
    #[inline]
    fn execute_scan(
        &mut self,
        start: &[u8],
        limit: u32,
        direction: Direction,
        rows: &mut Rows,
    ) -> Result<Outcome> {
        self.execute(&Op::Scan { start, limit, direction }, rows)
    }

    /// Executes a read in a transaction with a consistent snapshot, and leaves that open.
    ///
    /// It ends with the next hold or the session; the one left open before is ended first. No other
    /// operation follows on the session.
    ///
    /// # Errors
    /// When it cannot be begun or the read failed; [`EngineError::Unsupported`] by default.
    fn hold(&mut self, _op: &Op<'_>, _rows: &mut Rows) -> Result<Outcome> {
        Err(EngineError::Unsupported("this engine holds no transaction open".to_owned()))
    }

    /// Returns the pipelined interface; `None` when the session has none.
    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        None
    }
}

/// A session with several operations in flight, completed in order.
///
/// [`Session::execute`] is not called while operations are in flight.
pub trait Pipeline: Session {
    /// Submits one operation, sent in [`Pipeline::complete`] at the latest.
    ///
    /// Returns `false`, without submitting, when the operation cannot be in flight with others
    /// (one of several statements; one whose statement is not prepared yet): the caller executes
    /// it once everything is complete. Hot path: no clock or allocation in the driver.
    ///
    /// # Errors
    /// When the operation cannot be sent; it is not in flight then.
    fn submit(&mut self, op: &Op<'_>) -> Result<bool>;

    /// Returns whether [`Pipeline::complete`] can return almost without waiting.
    fn has_answer(&mut self) -> bool;

    /// Waits for the oldest operation in flight.
    ///
    /// Its rows are counted in `rows`, which the caller clears, and never stored.
    ///
    /// # Errors
    /// When that operation failed. Later ones are still in flight, and each of them fails too when
    /// the connection is lost.
    fn complete(&mut self, rows: &mut Rows) -> Result<Outcome>;
}
