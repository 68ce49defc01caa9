//! An open database: identity, variables, storage engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use driver_sql::{
    Config, Connection as _, Database, Obstacle, OpenRequest, SessionNeeds, SqlEngine, TableName,
    WaitQuery, refuse,
};
use engine::{EngineError, LockWaits, Maintenance, OpenSpec};
use model::{DurabilityRecord, EngineState, Identity, Options};

use crate::config::check_foreign;
use crate::database::{MysqlDatabase, MysqlEngine};
use crate::kind::Flavour;
use crate::standby_status::StandbyMonitor;
use crate::wire::{Connection, Failure};
use crate::{conditions, durability, limits, maintenance, state};

/// Variables that name a server's location or time and not its behaviour, besides those whose
/// value lies in its directories.
#[rustfmt::skip]
const LOCATION_VARIABLES: [&str; 11] = [
    "basedir", "character_sets_dir", "datadir", "gtid_binlog_pos", "hostname", "lc_messages_dir",
    "plugin_dir", "port", "report_port", "server_uid", "server_uuid",
];
/// Variables that are facts of the build.
#[rustfmt::skip]
const FACTS: [&str; 10] = [
    "version_comment", "version_compile_machine", "version_compile_os", "version_compile_zlib",
    "version_malloc_library", "version_source_revision", "version_ssl_library", "innodb_version",
    "innodb_page_size", "default_storage_engine",
];

/// Connects, creates the tables and checks the server against `spec`.
pub(crate) fn open(
    flavour: Flavour,
    spec: &OpenSpec,
    waits: &LockWaits,
    mut config: Config<()>,
) -> Result<MysqlEngine, EngineError> {
    let mut connection: Connection = config.connect_first()?;
    let is_foreign = config.endpoint.is_foreign;
    let standby = config.own.replica.map(|_| StandbyMonitor::open(&config.endpoint)).transpose()?;
    let spec = &for_storage_engine(&mut connection, spec)?;
    let endpoint = config.endpoint.clone();
    let check = |connection: &mut Connection| {
        let named = is_foreign.then_some(flavour);
        refuse::<Connection>(&endpoint, &conditions::obstacles(connection, spec, named)?)?;
        conditions::guard_tables(connection)?;
        if is_foreign { check_foreign(&spec.options, &variables(connection)?) } else { Ok(()) }
    };
    let database = |connection: &mut Connection, tables: &[TableName]| {
        Ok(MysqlDatabase {
            flavour,
            saved_variables: Mutex::new(None),
            standby,
            storage_engine: durability::storage_engine(connection, tables)?,
            sizes: state::sizes_query(connection)?,
        })
    };
    SqlEngine::open(connection, OpenRequest { spec, waits }, config, check, database)
}

/// Returns `spec` with the statements for `MyRocks`, where tables are of it by default.
fn for_storage_engine(
    connection: &mut Connection,
    spec: &OpenSpec,
) -> Result<OpenSpec, EngineError> {
    let mut spec = spec.clone();
    let default = connection.pairs("SHOW SESSION VARIABLES LIKE 'default_storage_engine'")?;
    if let Some(setup) = &mut spec.application
        && default.iter().any(|(_, engine)| engine.eq_ignore_ascii_case("rocksdb"))
    {
        Arc::make_mut(&mut setup.application).use_myrocks();
    }
    Ok(spec)
}

impl Database for MysqlDatabase {
    type Connection = Connection;

    fn identity(engine: &MysqlEngine) -> Identity {
        let variables = engine.with_control(variables).unwrap_or_default();
        let value = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
        let facts = FACTS.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?)));
        Identity {
            engine: engine.database.flavour.name().to_owned(),
            version: value("version").unwrap_or_default(),
            origin: "server".to_owned(),
            sha256: None,
            facts: facts.collect(),
        }
    }

    /// Leaves out variables that name a location, such as the data directory.
    fn effective_options(engine: &MysqlEngine) -> Result<Options, EngineError> {
        let mut variables = engine.with_control(variables)?;
        let data = variables.get("datadir").map(|dir| dir.trim_end_matches('/').to_owned());
        let place = data.as_deref().and_then(|dir| dir.rsplit_once('/')).map(|(dir, _)| dir);
        let place = place.filter(|dir| !dir.is_empty()).map(str::to_owned);
        variables.retain(|name, value| {
            let is_there = place.as_ref().is_some_and(|place| value.contains(place.as_str()));
            !is_there && !LOCATION_VARIABLES.contains(&name.as_str())
        });
        let own = engine.own_options().into_iter();
        variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
        Ok(variables.into_iter().collect())
    }

    fn durability(
        connection: &mut Connection,
        tables: &[TableName],
    ) -> Result<DurabilityRecord, Failure> {
        durability::read(connection, tables)
    }

    fn overridden(engine: &MysqlEngine) -> Result<Vec<String>, EngineError> {
        Ok(conditions::notes(&mut engine.connect()?)?)
    }

    fn limits(
        engine: &MysqlEngine,
        connection: &mut Connection,
        needs: SessionNeeds,
    ) -> Result<Vec<Obstacle>, Failure> {
        limits::limits(connection, needs, engine.config.endpoint.is_foreign)
    }

    fn maintain(engine: &MysqlEngine, work: Maintenance) -> Result<bool, EngineError> {
        maintenance::maintain(engine, work)
    }

    fn state(engine: &MysqlEngine) -> Result<EngineState, EngineError> {
        let MysqlDatabase { storage_engine, sizes, standby, .. } = &engine.database;
        let (mut state, logs) = engine.with_control(|connection| {
            state::sample(connection, *storage_engine, sizes.as_deref())
        })?;
        if let Some(standby) = standby {
            standby.sample(&logs, &mut state.readings)?;
        }
        if state.is_idle == Some(true) {
            maintenance::restore(engine)?;
        }
        Ok(state)
    }

    fn wait_queries() -> Vec<WaitQuery> {
        state::wait_queries()
    }

    fn statistics(connection: &mut Connection) -> Result<String, Failure> {
        Ok(state::statistics(connection))
    }

    fn verify(engine: &MysqlEngine) -> Result<(), EngineError> {
        engine.database.standby.as_ref().map_or(Ok(()), StandbyMonitor::verify)
    }

    /// Restores the variables of maintenance: clients run with the configured ones.
    fn restore(engine: &MysqlEngine) -> Result<(), EngineError> {
        maintenance::restore(engine)
    }
}

/// Returns the variables in force.
fn variables(connection: &mut Connection) -> Result<BTreeMap<String, String>, Failure> {
    let pairs = connection.pairs("SHOW GLOBAL VARIABLES")?;
    Ok(pairs.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect())
}
