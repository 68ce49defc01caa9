//! An open database: tables, control connection, maintenance and state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::{ApplicationSetup, Engine, EngineError, Maintenance, OpenSpec, Session};
use model::{Bounds, EngineState, Identity, Options, metric};

use crate::config::{Config, check_foreign};
use crate::kind::Flavour;
use crate::session::MysqlSession;
use crate::tables::StorageEngine;
use crate::wire::{Connection, Failure};
use crate::{maintenance, state, tables};

/// Name of the lock that excludes a second run from the database.
const LOCK: &str = "CONCAT('assay ', DATABASE())";
/// Timeout of that lock, s: a client that has just left may still hold it.
const LOCK_WAIT_S: u32 = 5;
/// Variables that name a server's location or time and not its behaviour, besides those whose
/// value lies in its directories.
const LOCATION_VARIABLES: [&str; 8] = [
    "basedir",
    "character_sets_dir",
    "datadir",
    "gtid_binlog_pos",
    "hostname",
    "lc_messages_dir",
    "plugin_dir",
    "server_uuid",
];
/// Room for the SQL text, key and quotes besides the value.
const STATEMENT_BYTES: u64 = 4096;

/// A server with the tables of a run.
pub(crate) struct MysqlEngine {
    flavour: Flavour,
    pub(crate) config: Config,
    pub(crate) setup: Option<ApplicationSetup>,
    /// Connections that sessions have made again after a loss.
    pub(crate) reconnects: AtomicU64,
    /// InnoDB variables to restore once it is idle.
    pub(crate) saved_variables: Mutex<Option<maintenance::SavedVariables>>,
    /// Storage engine of the tables.
    pub(crate) storage_engine: StorageEngine,
    /// The names of all tables.
    pub(crate) names: BTreeSet<String>,
    version: String,
    control: Mutex<Connection>,
}

impl MysqlEngine {
    /// Connects, creates the tables and checks the server against `spec`.
    pub(crate) fn open(
        flavour: Flavour,
        spec: &OpenSpec,
        config: Config,
    ) -> Result<Self, EngineError> {
        if !spec.dir.is_dir() {
            let text = format!("{}: not a directory", spec.dir.display());
            return Err(EngineError::Fatal(text));
        }
        let mut control = Connection::open(&config.endpoint)?;
        lock(&mut control, &config)?;
        let variables = variables(&mut control)?;
        if config.endpoint.is_foreign {
            check_foreign(spec, &variables)?;
        }
        check_room(spec, &variables)?;
        tables::ensure(&mut control, spec)?;
        let names = tables::names(spec.application.as_ref());
        let first = names.first().map_or("", String::as_str);
        Ok(Self {
            storage_engine: tables::storage_engine(&mut control, first)?,
            names,
            flavour,
            config,
            setup: spec.application.clone(),
            reconnects: AtomicU64::new(0),
            saved_variables: Mutex::new(None),
            version: control.version().to_owned(),
            control: Mutex::new(control),
        })
    }

    fn control(&self) -> MutexGuard<'_, Connection> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a query on the control connection, reconnecting once after a loss.
    pub(crate) fn with_control<T>(
        &self,
        mut query: impl FnMut(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, EngineError> {
        let mut control = self.control();
        match query(&mut control) {
            Err(failure) if failure.is_loss() => {
                *control = Connection::open(&self.config.endpoint)?;
                lock(&mut control, &self.config)?;
                Ok(query(&mut control)?)
            }
            answer => Ok(answer?),
        }
    }

    /// Returns the name of a copy of one of the application's tables, and its column of ids.
    fn table(&self, position: u16, number: u32) -> Option<(String, Option<&str>)> {
        let setup = self.setup.as_ref().filter(|setup| number < setup.copies(position))?;
        let table = setup.application.tables.get(usize::from(position))?;
        Some((tables::name(&table.name, number), table.id.as_deref()))
    }
}

impl Engine for MysqlEngine {
    /// Restores the variables of maintenance first: clients run with the configured ones.
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        maintenance::restore(self)?;
        Ok(Box::new(MysqlSession::new(self)?))
    }

    fn identity(&self) -> Identity {
        let variables = self.with_control(variables).unwrap_or_default();
        let value = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
        let facts = [
            "version_comment",
            "version_compile_machine",
            "version_compile_os",
            "version_compile_zlib",
            "version_malloc_library",
            "version_source_revision",
            "version_ssl_library",
            "innodb_version",
            "innodb_page_size",
            "default_storage_engine",
        ];
        let facts = facts.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?)));
        let clock =
            |connection: &mut Connection| connection.first("SELECT UNIX_TIMESTAMP(SYSDATE(6))");
        let clock = self.with_control(clock).ok().flatten();
        let facts = facts.chain(server::clock_fact(clock.as_deref()));
        Identity {
            engine: self.flavour.name().to_owned(),
            version: value("version").unwrap_or_else(|| self.version.clone()),
            origin: "server".to_owned(),
            sha256: None,
            facts: facts.collect(),
        }
    }

    /// Leaves out variables that name a location, such as the data directory.
    fn effective_options(&self) -> Result<Options, EngineError> {
        let mut variables = self.with_control(variables)?;
        let data = variables.get("datadir").map(|dir| dir.trim_end_matches('/').to_owned());
        let place = data.as_deref().and_then(|dir| dir.rsplit_once('/')).map(|(dir, _)| dir);
        let place = place.filter(|dir| !dir.is_empty()).map(str::to_owned);
        variables.retain(|name, value| {
            let is_there = place.as_ref().is_some_and(|place| value.contains(place.as_str()));
            !is_there && !LOCATION_VARIABLES.contains(&name.as_str())
        });
        let protocol = if self.config.is_text { "text" } else { "prepared" };
        variables.insert("assay.protocol".to_owned(), protocol.to_owned());
        Ok(variables.into_iter().collect())
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        maintenance::maintain(self, work)
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        let mut state =
            self.with_control(|connection| state::sample(connection, self.storage_engine))?;
        let reconnects = self.reconnects.load(Ordering::Relaxed);
        state.readings.set(metric::CLIENT_RECONNECTS, reconnects as f64);
        maintenance::restore_when_idle(self, &state)?;
        Ok(state)
    }

    fn statistics_text(&self) -> Option<String> {
        self.with_control(|connection| Ok(state::statistics(connection))).ok()
    }

    fn bounds(&self, table: u16, number: u32) -> Result<Option<Bounds>, EngineError> {
        let Some((name, Some(id))) = self.table(table, number) else { return Ok(None) };
        let sql = format!("SELECT MIN(`{id}`), MAX(`{id}`) FROM `{name}`");
        let rows = self.with_control(|connection| connection.rows(&sql))?;
        let numbers: Vec<i64> = rows.iter().flatten().filter_map(|id| id.parse().ok()).collect();
        Ok(Some(match numbers[..] {
            [first, last] => Bounds { first, next: last + 1 },
            _ => Bounds::default(),
        }))
    }

    fn count_rows(&self, table: u16, number: u32) -> Result<Option<u64>, EngineError> {
        let Some((name, _)) = self.table(table, number) else { return Ok(None) };
        let sql = format!("SELECT COUNT(*) FROM `{name}`");
        let count = self.with_control(|connection| connection.first(&sql))?;
        Ok(count.and_then(|count| count.parse().ok()))
    }

    /// Leaves the tables: an own server is wiped with its run, a foreign one keeps them.
    fn close(self: Box<Self>) -> Result<(), EngineError> {
        maintenance::restore(&self)?;
        let mut control = self.control();
        // The server also releases it when the connection closes.
        drop(control.first(&format!("SELECT RELEASE_LOCK({LOCK})")));
        Ok(())
    }
}

/// Locks the database for this run.
fn lock(connection: &mut Connection, config: &Config) -> Result<(), EngineError> {
    let held = connection.first(&format!("SELECT GET_LOCK({LOCK}, {LOCK_WAIT_S})"));
    match held {
        Ok(Some(held)) if held == "0" => Err(EngineError::Fatal(format!(
            "another run of Assay uses database `{}` at {}: wait for it, or name another database",
            config.endpoint.database, config.endpoint.address
        ))),
        // A server without such locks is not shared.
        Ok(_) | Err(Failure::Refused(_)) => Ok(()),
        Err(failure) => Err(failure.into()),
    }
}

/// Returns the variables in force.
fn variables(connection: &mut Connection) -> Result<BTreeMap<String, String>, Failure> {
    let rows = connection.rows("SHOW GLOBAL VARIABLES")?;
    let pairs = rows.into_iter().filter_map(|row| match <[String; 2]>::try_from(row) {
        Ok([name, value]) => Some((name.to_ascii_lowercase(), value)),
        Err(_other) => None,
    });
    Ok(pairs.collect())
}

/// Checks that values fit `max_allowed_packet`.
fn check_room(spec: &OpenSpec, variables: &BTreeMap<String, String>) -> Result<(), EngineError> {
    if spec.application.is_some() {
        return Ok(());
    }
    let most = variables.get("max_allowed_packet").and_then(|bytes| bytes.parse::<u64>().ok());
    let needed = 2 * u64::from(spec.data.value_bytes) + STATEMENT_BYTES;
    match most {
        Some(most) if most < needed => Err(EngineError::Unsupported(format!(
            "values of {} bytes: the server takes statements of max_allowed_packet={most}: raise \
             it to {needed}",
            spec.data.value_bytes
        ))),
        _ => Ok(()),
    }
}
