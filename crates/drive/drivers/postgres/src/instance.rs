//! An open database: tables, control connections, maintenance and state.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use engine::settings_check::refused;
use engine::{Engine, EngineError, Maintenance, OpenSpec, Session};
use model::{Bounds, Durability, Endpoint, EngineState, Identity, Options, Settings, metric};

use crate::config::Config;
use crate::error::{failed, map_fatal};
use crate::procedure::table_name;
use crate::session::{PostgresSession, Shared};
use crate::wire::{Connection, Failure};
use crate::{describe, state, tables};

/// An open database.
pub(crate) struct PostgresEngine {
    shared: Shared,
    identity: Identity,
    /// Names of our tables.
    tables: Vec<String>,
    /// Holds the run's lock; for queries that may take long.
    control: ControlConnection,
    /// For the state, once a second.
    sampling: ControlConnection,
    /// The state query; `None` when the server has no such views.
    state_query: Option<String>,
}

impl PostgresEngine {
    /// Connects, checks the server and creates missing tables.
    pub(crate) fn open(spec: &OpenSpec, config: Config) -> Result<Self, EngineError> {
        let endpoint = spec.endpoint.clone().ok_or_else(|| {
            let text = "postgres: no endpoint: give a dsn";
            EngineError::Fatal(text.to_owned())
        })?;
        if !spec.dir.is_dir() {
            let dir = spec.dir.display();
            return Err(EngineError::Fatal(format!("postgres: {dir} is no directory")));
        }
        let mut connection = Connection::open(&endpoint, &config.session)
            .map_err(|failure| login_error(failure, &endpoint))?;
        check_server(&mut connection, &config, &spec.settings, endpoint.is_foreign)?;
        tables::lock(&mut connection, &endpoint)?;
        let names = tables::make(&mut connection, spec, &config, &endpoint)?;
        let identity = describe::identity(&mut connection, &endpoint).map_err(failed)?;
        let state_query = state_query(&mut connection, &names)?;
        let application = spec.application.as_ref().map(|setup| setup.application.clone());
        Ok(Self {
            shared: Shared { endpoint, config, application, reconnects: AtomicU64::new(0) },
            identity,
            tables: names,
            control: ControlConnection(Mutex::new(Some(connection))),
            sampling: ControlConnection::default(),
            state_query,
        })
    }

    /// Runs a statement on each table, over a connection of its own.
    fn on_each_table(&self, statement: &str) -> Result<bool, EngineError> {
        let mut connection = self.shared.connect().map_err(failed)?;
        for table in &self.tables {
            match connection.run(&format!("{statement} {table}")) {
                // Compatible systems lack the statement.
                Err(Failure::Refused(error_response))
                    if error_response.is("42601") || error_response.is("0A") =>
                {
                    return Ok(false);
                }
                done => done.map_err(failed)?,
            }
        }
        Ok(true)
    }

    /// Runs a checkpoint; `false` when denied or unknown.
    fn checkpoint(&self) -> Result<bool, EngineError> {
        let mut connection = self.shared.connect().map_err(failed)?;
        match connection.run("CHECKPOINT") {
            Err(Failure::Refused(error_response))
                if ["42501", "42601", "0A000"].contains(&error_response.code.as_str()) =>
            {
                Ok(false)
            }
            done => done.map(|()| true).map_err(failed),
        }
    }

    /// Queries copy `number` of an application's table; `None` without one.
    fn of_table<T>(
        &self,
        table: u16,
        number: u32,
        run: impl Fn(&mut Connection, &str, Option<&str>) -> Result<T, Failure>,
    ) -> Result<Option<T>, EngineError> {
        let Some(application) = &self.shared.application else { return Ok(None) };
        let Some(name) = table_name(application, table, number) else { return Ok(None) };
        let id = application.tables.get(usize::from(table)).and_then(|table| table.id.as_deref());
        self.control.run(&self.shared, |connection| run(connection, &name, id)).map(Some)
    }
}

impl Shared {
    fn connect(&self) -> Result<Connection, Failure> {
        Connection::open(&self.endpoint, &self.config.session)
    }
}

impl Engine for PostgresEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Ok(Box::new(PostgresSession::new(&self.shared)?))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        let config = &self.shared.config;
        self.control.run(&self.shared, |connection| describe::settings(connection, config))
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        match work {
            Maintenance::Flush => self.checkpoint(),
            Maintenance::Clean => self.on_each_table("VACUUM (ANALYZE)"),
            Maintenance::CompactAll => self.on_each_table("VACUUM (FULL, ANALYZE)"),
            Maintenance::CompactLevel0 => Ok(false),
        }
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        let mut state = match &self.state_query {
            Some(query) => {
                let row = self.sampling.run(&self.shared, |connection| connection.named_row(query));
                state::parse(row?)
            }
            None => EngineState::default(),
        };
        let reconnects = self.shared.reconnects.load(Ordering::Relaxed) as f64;
        state.readings.set(metric::CLIENT_RECONNECTS, reconnects);
        Ok(state)
    }

    fn statistics_text(&self) -> Option<String> {
        self.control.run(&self.shared, describe::statistics).ok()
    }

    fn bounds(&self, table: u16, number: u32) -> Result<Option<Bounds>, EngineError> {
        let found = self.of_table(table, number, |connection, name, id| {
            let Some(id) = id else { return Ok(None) };
            let sql = format!("SELECT min({id}), max({id}) FROM {name}");
            let row = connection.table(&sql)?.into_iter().next().unwrap_or_default();
            let number = |at: usize| row.get(at).and_then(|text| text.parse::<i64>().ok());
            Ok(Some(match (number(0), number(1)) {
                (Some(first), Some(last)) => Bounds { first, next: last.saturating_add(1) },
                _ => Bounds::default(),
            }))
        })?;
        Ok(found.flatten())
    }

    fn count_rows(&self, table: u16, number: u32) -> Result<Option<u64>, EngineError> {
        let found = self.of_table(table, number, |connection, name, _| {
            let count = connection.value(&format!("SELECT count(*) FROM {name}"))?;
            Ok(count.and_then(|count| count.parse().ok()))
        })?;
        Ok(found.flatten())
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

/// A shared connection, opened on first use and after a loss.
#[derive(Default)]
struct ControlConnection(Mutex<Option<Connection>>);

impl ControlConnection {
    /// Runs a query, once more after a lost connection: queries change nothing.
    fn run<T>(
        &self,
        shared: &Shared,
        run: impl Fn(&mut Connection) -> Result<T, Failure>,
    ) -> Result<T, EngineError> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = slot.as_mut() {
            match run(connection) {
                Err(Failure::Lost(_)) => *slot = None,
                answered => return answered.map_err(failed),
            }
        }
        let connection = slot.insert(shared.connect().map_err(failed)?);
        run(connection).map_err(failed)
    }
}

/// Returns the error of the first connection.
#[cold]
fn login_error(failure: Failure, endpoint: &Endpoint) -> EngineError {
    let Endpoint { user, address, database, .. } = endpoint;
    map_fatal(failed(failure), |text| {
        format!("login as `{user}` to `{database}` on {address}: {text}")
    })
}

/// Checks that the server has the options and the durability class.
fn check_server(
    connection: &mut Connection,
    config: &Config,
    settings: &Settings,
    is_foreign: bool,
) -> Result<(), EngineError> {
    if let Some(name) = describe::unknown_option(connection, &config.server).map_err(failed)? {
        return Err(refused(&name, "the server has no such parameter"));
    }
    let mut setting = |name: &str| {
        let sql = format!("SELECT setting FROM pg_settings WHERE name = '{name}'");
        connection.value(&sql).map_err(failed)
    };
    if settings.durability == Durability::Sync && setting("fsync")?.as_deref() == Some("off") {
        return Err(EngineError::Unsupported(
            "durability `sync`: the server runs with fsync=off: start it with fsync=on".to_owned(),
        ));
    }
    if !is_foreign {
        return Ok(());
    }
    if let Some(requested) = settings.cache_bytes {
        // In pages of 8 KiB.
        let pages = setting("shared_buffers")?.and_then(|pages| pages.parse::<u64>().ok());
        let bytes = pages.map(|pages| pages * 8192);
        if bytes != Some(requested.0) {
            let found = bytes.map_or("unknown".to_owned(), |bytes| model::Bytes(bytes).to_string());
            return Err(EngineError::Unsupported(format!(
                "cache {requested}: Assay did not start this server, whose shared_buffers is \
                 {found}: remove `cache`, or set it there"
            )));
        }
    }
    if settings.direct_io && setting("debug_io_direct")?.is_none_or(|value| value.is_empty()) {
        return Err(EngineError::Unsupported(
            "direct_io: Assay did not start this server, which does not use it: remove \
             `direct_io`, or set debug_io_direct there"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Returns the state query if the server supports it.
fn state_query(
    connection: &mut Connection,
    tables: &[String],
) -> Result<Option<String>, EngineError> {
    let version = connection.parameter("server_version").unwrap_or_default();
    let digits = version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let Ok(major) = digits.parse() else { return Ok(None) };
    let mut oids = Vec::with_capacity(tables.len());
    for table in tables {
        let oid = connection.value(&format!("SELECT '{table}'::regclass::oid")).map_err(failed)?;
        oids.extend(oid);
    }
    let query = state::query(major, &oids);
    match connection.named_row(&query) {
        Ok(_) => Ok(Some(query)),
        // Compatible systems may lack these views.
        Err(Failure::Refused(_)) => Ok(None),
        Err(failure) => Err(failed(failure)),
    }
}
