//! An open database: tables, control connection, row counts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use engine::{ApplicationSetup, EngineError, LockWaits, Maintenance, OpenSpec};
use model::{
    Durability, DurabilityRecord, EngineState, Identity, Options, ReconnectPolicy, StatementTotals,
};

use crate::config::Config;
use crate::connection::{Connection, Reply};
use crate::explain::{StatementEntry, Statements};
use crate::failure::{ErrorResponse, Failure, fatal, unless_refused};
use crate::lock_watch::LockWatch;
use crate::object::TableName;
use crate::obstacle::{Obstacle, SessionNeeds};
use crate::open_sessions::OpenSessions;
use crate::pooler;
use crate::procedure::Known;
use crate::socket::Contact;
use crate::tables;
use crate::timed_stream::is_silence;

/// Longest time of a statement where outages are expected.
const STATEMENT_WITHIN: Duration =
    Duration::from_nanos(ReconnectPolicy::STANDARD.statement_within_ns.0);

/// One kind of database: identity, state and maintenance.
///
/// A method fails when the server refuses a statement or does not answer.
#[expect(clippy::missing_errors_doc, reason = "stated by the trait")]
pub trait Database: Send + Sync + Sized {
    /// The protocol of its servers.
    type Connection: Statements;

    /// Returns the identity of the server.
    fn identity(engine: &SqlEngine<Self>) -> Identity;

    /// Returns the settings in force.
    fn effective_options(engine: &SqlEngine<Self>) -> Result<Options, EngineError>;

    /// Reads back what the durability class of a session's writes to tables rests on.
    fn durability(
        connection: &mut Self::Connection,
        tables: &[TableName],
    ) -> Reply<DurabilityRecord, Self::Connection>;

    /// Describes the settings of a foreign server's own that the run's sessions override, or that
    /// change what a run measures.
    fn overridden(_engine: &SqlEngine<Self>) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    /// Returns the limits of the login and the server that leave too little room.
    fn limits(
        _engine: &SqlEngine<Self>,
        _connection: &mut Self::Connection,
        _needs: SessionNeeds,
    ) -> Reply<Vec<Obstacle>, Self::Connection> {
        Ok(Vec::new())
    }

    /// Starts maintenance work; `false` when the engine has none of its kind.
    fn maintain(engine: &SqlEngine<Self>, work: Maintenance) -> Result<bool, EngineError>;

    /// Returns the state of the server.
    fn state(engine: &SqlEngine<Self>) -> Result<EngineState, EngineError>;

    /// Returns the queries of waits, the best first; the first that the server takes is used.
    fn wait_queries() -> Vec<WaitQuery>;

    /// Returns the server's statistics as text.
    fn statistics(connection: &mut Self::Connection) -> Reply<String, Self::Connection>;

    /// Returns the structure of tables and indexes as text; `None` where it is not reported.
    fn structure(_engine: &SqlEngine<Self>) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// Checks at close that the run was what it was meant to be: that its standby still follows.
    ///
    /// # Errors
    /// When it does not.
    fn verify(_engine: &SqlEngine<Self>) -> Result<(), EngineError> {
        Ok(())
    }

    /// Restores what maintenance has changed, before clients run and at close.
    fn restore(_engine: &SqlEngine<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

/// Queries of what sessions wait for.
#[derive(Debug, Clone)]
pub struct WaitQuery {
    /// Returns a row where the server has what the query needs; refused or empty where not.
    pub needs: &'static str,
    /// Prepares the query once; may be empty.
    pub prepare: &'static str,
    /// Returns a row for each session: its number and its event.
    ///
    /// A process or thread of the server itself has no number.
    pub sample: String,
    /// Shortest pause between two samples.
    pub least_pause: Duration,
}

type Error<D> = <<D as Database>::Connection as Connection>::Error;

/// A server with the tables of a run.
pub struct SqlEngine<D: Database> {
    /// The kind of database.
    pub database: D,
    /// How the server is used.
    pub config: Config<<D::Connection as Connection>::Session>,
    /// Names of all tables.
    pub tables: Vec<TableName>,
    pub(crate) setup: Option<ApplicationSetup>,
    /// Reconnects of sessions after a loss.
    pub(crate) reconnects: AtomicU64,
    /// Whether the server may go away for a while.
    pub(crate) has_outages: AtomicBool,
    /// Open sessions, by the server's number.
    pub(crate) sessions: OpenSessions,
    /// Totals of statements of sessions that have ended, by their text.
    ended: Mutex<BTreeMap<String, StatementTotals>>,
    pub(crate) lock_watch: LockWatch<D::Connection>,
    /// Holds the run's lock; `None` after a loss.
    control: Mutex<Option<D::Connection>>,
}

/// What is opened, and how long the run waits for locks.
#[derive(Debug, Clone, Copy)]
pub struct OpenRequest<'a> {
    /// What is opened.
    pub spec: &'a OpenSpec,
    /// The waits of the run.
    pub waits: &'a LockWaits,
}

impl<D: Database> SqlEngine<D> {
    /// Checks the server by queries alone, locks the database and creates the tables.
    ///
    /// Where another process of the run holds the lock, it only finds the tables.
    ///
    /// # Errors
    /// When another run uses the database, `check` fails, or a table cannot be created.
    pub fn open(
        mut connection: D::Connection,
        OpenRequest { spec, waits }: OpenRequest<'_>,
        mut config: Config<<D::Connection as Connection>::Session>,
        check: impl FnOnce(&mut D::Connection) -> Result<(), EngineError>,
        database: impl FnOnce(&mut D::Connection, &[TableName]) -> Result<D, EngineError>,
    ) -> Result<Self, EngineError> {
        if !spec.dir.is_dir() {
            let text = format!("{}: not a directory", spec.dir.display());
            return Err(EngineError::Fatal(text));
        }
        config.contact = Contact::Known;
        config.certificate_note = connection.certificate_note();
        connection.limit_wait(Some(waits.silent_max))?;
        check(&mut connection)?;
        pooler::check(&mut connection, &mut config)?;
        let session = config.session.clone();
        let lock_watch = LockWatch::new(waits.clone(), config.endpoint.clone(), session);
        let (database, tables) = lock_watch.during(|| {
            lock_watch.add(&mut connection)?;
            lock(&mut connection, &config, waits)?;
            // Tables of an earlier run are dropped, however large they are.
            connection.limit_wait(None)?;
            let tables = tables::ensure(&mut connection, spec, &mut config, waits.is_lock_held)?;
            connection.limit_wait(Some(waits.silent_max))?;
            Ok((database(&mut connection, &tables)?, tables))
        })?;
        Ok(Self {
            database,
            tables,
            lock_watch,
            setup: spec.application.clone(),
            reconnects: AtomicU64::new(0),
            has_outages: AtomicBool::new(false),
            sessions: OpenSessions::default(),
            ended: Mutex::default(),
            control: Mutex::new(Some(connection)),
            config,
        })
    }

    /// Connects and logs in, for work outside of measured spans: waits for locks are limited.
    ///
    /// # Errors
    /// When no server listens, or the login is rejected.
    pub fn connect(&self) -> Result<D::Connection, EngineError> {
        let mut connection = self.contact()?;
        connection.limit_wait(Some(self.silent_max()))?;
        self.lock_watch.add(&mut connection)?;
        connection.limit_wait(None)?;
        Ok(connection)
    }

    /// Connects and logs in; where outages are expected, within the limits of their policy.
    pub(crate) fn contact(&self) -> Reply<D::Connection, D::Connection> {
        if !self.has_outages.load(Ordering::Relaxed) {
            return self.config.connect();
        }
        let ReconnectPolicy { connect_within_ns, .. } = ReconnectPolicy::STANDARD;
        let mut config = self.config.clone();
        config.endpoint.login.timeout_ms = u32::try_from(connect_within_ns.0 / 1_000_000).ok();
        let mut connection: D::Connection = config.connect()?;
        connection.limit_wait(Some(STATEMENT_WITHIN))?;
        Ok(connection)
    }

    /// Returns the longest time of an answer outside of clients' operations.
    fn silent_max(&self) -> Duration {
        let limit = self.lock_watch.silent_max();
        let has_outages = self.has_outages.load(Ordering::Relaxed);
        if has_outages { limit.min(STATEMENT_WITHIN) } else { limit }
    }

    /// Connects as [`SqlEngine::connect`] does, for statements that last `limit` at most once they
    /// have their locks.
    pub(crate) fn connect_within(&self, limit: Duration) -> Result<D::Connection, EngineError> {
        let mut connection = self.connect()?;
        connection.limit_time(limit + self.lock_watch.limit())?;
        Ok(connection)
    }

    /// Checks that the writes of a session have the durability class claimed.
    pub(crate) fn check_durability(
        &self,
        connection: &mut D::Connection,
    ) -> Reply<(), D::Connection> {
        let claimed = self.config.durability;
        if claimed == Durability::None {
            return Ok(());
        }
        let had = D::durability(connection, &self.tables)?;
        had.violation(claimed).map_or(Ok(()), |basis| {
            Err(Failure::Rejected(format!("durability `{claimed}`: {basis}")))
        })
    }

    /// Returns how the server is used, and the application.
    pub(crate) fn known(&self) -> Known<'_, D::Connection> {
        (&self.config, self.setup.as_ref())
    }

    /// Returns the name of a procedure of the application.
    pub(crate) fn procedure_name(&self, at: u16) -> String {
        let procedure = self.setup.as_ref().and_then(|setup| setup.application.procedure(at));
        procedure.map(|procedure| procedure.name.clone()).unwrap_or_default()
    }

    /// Returns Assay's own options in force.
    pub fn own_options(&self) -> Vec<(&'static str, String)> {
        self.config.own_options(self.setup.as_ref(), D::Connection::SQL.dialect)
    }

    /// Adds the statistics that end with a session.
    pub(crate) fn end_entries(&self, entries: Vec<StatementEntry>) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        for StatementEntry { text, totals, .. } in entries {
            let sum = ended.remove(&text).map_or(totals, |sum| sum.plus(totals));
            ended.insert(text, sum);
        }
    }

    /// Returns the statistics of sessions that have ended.
    pub(crate) fn ended_entries(&self) -> Vec<StatementEntry> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = |(text, totals): (&String, &StatementTotals)| StatementEntry {
            id: text.clone(),
            text: text.clone(),
            totals: *totals,
        };
        ended.iter().map(entry).collect()
    }

    /// Runs a query on the control connection, reconnecting once after a loss.
    ///
    /// # Errors
    /// When the server refuses it, does not answer in time, or cannot be reached again.
    pub fn with_control<T>(
        &self,
        query: impl FnMut(&mut D::Connection) -> Reply<T, D::Connection>,
    ) -> Result<T, EngineError> {
        self.on_control(Some(self.silent_max()), query)
    }

    /// Runs a query as [`SqlEngine::with_control`] does, however long it takes.
    ///
    /// # Errors
    /// When the server refuses it, or cannot be reached again.
    pub fn with_control_unlimited<T>(
        &self,
        query: impl FnMut(&mut D::Connection) -> Reply<T, D::Connection>,
    ) -> Result<T, EngineError> {
        self.on_control(None, query)
    }

    /// Returns the error of a server that does not answer, with its address.
    #[cold]
    pub(crate) fn silent(&self, reason: &str) -> EngineError {
        let server = format!("the server at {}", self.config.endpoint.address);
        let reason = reason.replacen("the server", &server, 1);
        Error::<D>::LOST(format!("{}{reason}", Error::<D>::PREFIX))
    }

    fn on_control<T>(
        &self,
        limit: Option<Duration>,
        mut query: impl FnMut(&mut D::Connection) -> Reply<T, D::Connection>,
    ) -> Result<T, EngineError> {
        let mut limited = |connection: &mut D::Connection| {
            connection.limit_wait(limit)?;
            query(connection)
        };
        let mut slot = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = slot.as_mut() {
            match limited(connection) {
                // Not at once again: it would take the same time.
                Err(Failure::Lost(reason)) if is_silence(&reason) => {
                    *slot = None;
                    return Err(self.silent(&reason));
                }
                Err(failure) if failure.is_loss() => *slot = None,
                answer => return Ok(answer?),
            }
        }
        let mut connection = self.connect()?;
        connection.limit_wait(Some(self.silent_max()))?;
        lock(&mut connection, &self.config, self.lock_watch.waits())?;
        Ok(limited(slot.insert(connection))?)
    }
}

/// Locks the database for this run: two at once would drop each other's tables.
fn lock<C: Connection>(
    connection: &mut C,
    config: &Config<C::Session>,
    waits: &LockWaits,
) -> Result<(), EngineError> {
    if waits.is_lock_held {
        return Ok(());
    }
    match connection.lock() {
        Ok(false) => Err(fatal::<C::Error>(format!(
            "another run of Assay uses database `{}` at {}: wait until that run has ended, or name \
             another database",
            config.endpoint.database, config.endpoint.address
        ))),
        // A server without such locks is not shared.
        Err(Failure::Refused(_)) => Ok(()),
        Err(failure) => Err(failure.into()),
        // The next transaction must find the lock in its session, or it protects nothing.
        Ok(true) => match unless_refused(connection.first(C::SQL.holds_lock))?.flatten() {
            Some(held) if held == "0" => Err(pooler::refusal::<C>(config)),
            _ => Ok(()),
        },
    }
}
