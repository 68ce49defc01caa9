//! An open database: check of the server, maintenance, state query.

use driver_sql::{
    Config, Connection as _, Contact, Database, Obstacle, OpenRequest, SessionNeeds, SqlEngine,
    TableName, WaitQuery, refuse, unless_refused,
};
use engine::{EngineError, LockWaits, Maintenance, OpenSpec, Setting};
use model::{DurabilityRecord, Endpoint, EngineState, Identity, Options, Settings};

use crate::wire::{Connection, Failure, Session};
use crate::{conditions, describe, durability, standby, state, tables, waits};

/// A server with the tables of a run.
pub(crate) type PostgresEngine = SqlEngine<PostgresDatabase>;

pub(crate) struct PostgresDatabase {
    identity: Identity,
    /// The state queries; `None` when the server has no such views.
    queries: Option<Queries>,
}

/// Queries of every second.
struct Queries {
    state: String,
    tables: String,
}

/// Connects, checks the server and creates missing tables.
pub(crate) fn open(
    spec: &OpenSpec,
    waits: &LockWaits,
    mut config: Config<Session>,
) -> Result<PostgresEngine, EngineError> {
    let connected = config.connect_first();
    let endpoint = config.endpoint.clone();
    let connection = connected.map_err(|failure| login_error(failure, &endpoint))?;
    let check = |connection: &mut Connection| {
        if !endpoint.is_foreign {
            return Ok(());
        }
        refuse::<Connection>(&endpoint, &conditions::obstacles(connection)?)?;
        check_foreign(connection, &spec.settings)
    };
    let request = OpenRequest { spec, waits };
    SqlEngine::open(connection, request, config, check, |connection, tables| {
        if endpoint.is_foreign {
            refuse::<Connection>(&endpoint, &conditions::row_security(connection, tables)?)?;
        }
        Ok(PostgresDatabase {
            identity: describe::identity(connection, &endpoint)?,
            queries: queries(connection, tables, endpoint.is_foreign)?,
        })
    })
}

impl Database for PostgresDatabase {
    type Connection = Connection;

    fn identity(engine: &PostgresEngine) -> Identity {
        engine.database.identity.clone()
    }

    fn effective_options(engine: &PostgresEngine) -> Result<Options, EngineError> {
        engine.with_control(|connection| describe::settings(connection, engine.own_options()))
    }

    fn durability(
        connection: &mut Connection,
        tables: &[TableName],
    ) -> Result<DurabilityRecord, Failure> {
        durability::read(connection, tables)
    }

    fn overridden(engine: &PostgresEngine) -> Result<Vec<String>, EngineError> {
        let mut own =
            Connection::open(&engine.config.endpoint, &Session::default(), Contact::Known)?;
        let names = engine.config.session.settings.iter().map(|(name, _)| name.as_str());
        Ok(durability::overridden(&mut own, &mut engine.connect()?, names)?)
    }

    fn limits(
        engine: &PostgresEngine,
        connection: &mut Connection,
        needs: SessionNeeds,
    ) -> Result<Vec<Obstacle>, Failure> {
        match engine.config.endpoint.is_foreign {
            true => conditions::limits(connection, needs),
            false => Ok(Vec::new()),
        }
    }

    fn maintain(engine: &PostgresEngine, work: Maintenance) -> Result<bool, EngineError> {
        match work {
            Maintenance::Flush => attempt(&mut engine.connect()?, "CHECKPOINT"),
            Maintenance::Clean => on_each_table(engine, "VACUUM (ANALYZE)"),
            Maintenance::CompactAll => on_each_table(engine, "VACUUM (FULL, ANALYZE)"),
            Maintenance::CompactLevel0 => Ok(false),
        }
    }

    fn state(engine: &PostgresEngine) -> Result<EngineState, EngineError> {
        let Some(queries) = &engine.database.queries else { return Ok(EngineState::default()) };
        engine.with_control(|connection| {
            let state = state::parse(connection.named_row(&queries.state)?);
            Ok(EngineState { tables: tables::sample(connection, &queries.tables)?, ..state })
        })
    }

    fn wait_queries() -> Vec<WaitQuery> {
        waits::queries()
    }

    fn structure(engine: &PostgresEngine) -> Result<Option<String>, EngineError> {
        if engine.config.endpoint.is_foreign {
            return Ok(None);
        }
        Ok(describe::structure(&mut engine.connect()?)?)
    }

    fn statistics(connection: &mut Connection) -> Result<String, Failure> {
        describe::statistics(connection)
    }

    fn verify(engine: &PostgresEngine) -> Result<(), EngineError> {
        let is_replaced = engine.config.endpoint.login.standby.is_some();
        match engine.config.own.replica.filter(|_| !is_replaced) {
            Some(_) => standby::verify(&mut engine.connect()?),
            None => Ok(()),
        }
    }
}

/// Runs a statement on each table, over a connection of its own.
fn on_each_table(engine: &PostgresEngine, statement: &str) -> Result<bool, EngineError> {
    let mut connection = engine.connect()?;
    for TableName { qualified, .. } in &engine.tables {
        if !attempt(&mut connection, &format!("{statement} {qualified}"))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs a statement of maintenance; `false` when denied, or unknown to a compatible system.
fn attempt(connection: &mut Connection, sql: &str) -> Result<bool, EngineError> {
    match connection.run(sql) {
        Err(Failure::Refused(error_response))
            if ["42501", "42601", "0A"].iter().any(|code| error_response.is(code)) =>
        {
            Ok(false)
        }
        done => Ok(done.map(|()| true)?),
    }
}

/// Returns the error of the first connection.
#[cold]
fn login_error(failure: Failure, endpoint: &Endpoint) -> EngineError {
    let Endpoint { user, address, database, .. } = endpoint;
    let is_reached = !matches!(failure, Failure::Unreachable(_));
    let error = failure.into();
    if let EngineError::Fatal(text) = &error
        && is_reached
    {
        let text = format!("login as `{user}` to `{database}` on {address}: {text}");
        return EngineError::Fatal(text);
    }
    error
}

/// Checks that a foreign server has the settings.
fn check_foreign(connection: &mut Connection, settings: &Settings) -> Result<(), EngineError> {
    let mut setting = |name: &str| {
        connection.first(&format!("SELECT setting FROM pg_settings WHERE name = '{name}'"))
    };
    if let Some(requested) = settings.cache_bytes {
        // In pages of 8 KiB.
        let pages = setting("shared_buffers")?.and_then(|pages| pages.parse::<u64>().ok());
        let bytes = pages.map(|pages| pages * 8192);
        if bytes != Some(requested.0) {
            let found = bytes.map_or("unknown".to_owned(), |bytes| model::Bytes(bytes).to_string());
            let reason = format!(
                "cache {requested}: Assay did not start this server, whose shared_buffers is \
                 {found}: remove `cache`, or set shared_buffers on the server"
            );
            return Err(EngineError::setting(Setting::Cache, reason));
        }
    }
    if settings.direct_io && setting("debug_io_direct")?.is_none_or(|value| value.is_empty()) {
        return Err(EngineError::setting(
            Setting::DirectIo,
            "direct_io: Assay did not start this server, which uses the page cache: remove \
             `direct_io`, or set debug_io_direct on the server",
        ));
    }
    Ok(())
}

/// Returns the state queries if the server supports them.
fn queries(
    connection: &mut Connection,
    tables: &[TableName],
    is_foreign: bool,
) -> Result<Option<Queries>, Failure> {
    let version = connection.parameter("server_version").unwrap_or_default();
    let digits = version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let Ok(major) = digits.parse() else { return Ok(None) };
    let leaves = unless_refused(connection.rows(&tables::leaves_query(tables)))?;
    let Some(leaves) = leaves else { return Ok(None) };
    let oids = leaves.concat();
    let counts_dirty = tables::can_count_dirty(connection, major, is_foreign)?;
    let state = state::query(major, &oids, counts_dirty);
    let is_supported = unless_refused(connection.named_row(&state))?.is_some();
    Ok(is_supported.then(|| Queries { tables: tables::query(&oids), state }))
}
