//! Our client: loop, generators and driver, without supervisor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use calls::Tables;
use engine::{ApplicationSetup, Engine, Maintenance, OpenSpec};
use load::{Faults, GroupRun, HolderRun, SteadyClock, StepRun, StopFlag, run_step};
use model::record::OpCounts;
use model::sql::Dialect;
use model::{
    Application, Bytes, DataShape, Durability, Endpoint, Nanos, OpKind, Options, Settings, Step,
    StopRule,
};
use serde::{Deserialize, Serialize};
use workload::{Group, Presence, Request, catalog, generators};

use crate::pairs::Done;
use crate::process::Result;

/// Rows of the data: 2.4 MB, which the block cache holds many times over.
pub(crate) const ROWS: u64 = 20_000;
/// Bytes of a key, laid out alike by `db_bench`.
pub(crate) const KEY_BYTES: u32 = 20;
/// Bytes of a value: `db_bench`'s default.
pub(crate) const VALUE_BYTES: u32 = 100;
/// Bytes of the block cache.
pub(crate) const CACHE_BYTES: u64 = 32 << 20;
/// Bytes of a server's cache: it holds the table ten times over.
pub(crate) const SERVER_CACHE_BYTES: u64 = 256 << 20;
/// Bytes of a memtable: all writes of one task fit, so nothing is flushed while it is timed.
pub(crate) const MEMTABLE_BYTES: u64 = 512 << 20;
/// Rows of a range.
pub(crate) const RANGE_ROWS: u32 = 10;

/// The profile of `db_bench`'s built-in settings.
const PROFILE: &str = include_str!("../../../../profiles/rocksdb-dbbench.toml");

/// Longest interval: valgrind slows a program down some fifty times, so one-second interval ends
/// would weigh fifty times as much as in a run.
const INTERVAL: Nanos = Nanos::from_secs(60);

/// The task of one process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// A step on RocksDB; a `fillseq` is compacted behind the clients.
    Rows { step: String, operations: u64, dir: PathBuf, library: PathBuf },
    /// The only step of an application, on a server.
    Sql {
        application: Box<Application>,
        dialect: Dialect,
        operations: u64,
        endpoint: Box<Endpoint>,
    },
}

/// Executes the task in a file, in JSON, and prints the result.
pub(crate) fn execute(file: &str) -> Result<()> {
    let done = match serde_json::from_str(&std::fs::read_to_string(file)?)? {
        Task::Rows { step, operations, dir, library } => {
            let step = Step {
                range_rows: RANGE_ROWS,
                batch_keys: 1,
                ..Step::new(step, StopRule::Operations(operations))
            };
            on_rocksdb(&step, &dir, &library)?
        }
        Task::Sql { application, dialect, operations, endpoint } => {
            let step = Step::new(application.order[0].clone(), StopRule::Operations(operations));
            let setup = ApplicationSetup { application: Arc::new(*application), clients: 1 };
            on_server(&step, setup, dialect, *endpoint)?
        }
    };
    println!("{}", serde_json::to_string(&done)?);
    Ok(())
}

fn on_rocksdb(step: &Step, dir: &Path, library: &Path) -> Result<Done> {
    #[derive(Deserialize)]
    struct Profile {
        options: Options,
    }
    let mut options = toml::from_str::<Profile>(PROFILE)?.options;
    options.set("write_buffer_size", MEMTABLE_BYTES.to_string());
    options.set("compression", "kNoCompression");
    let data = DataShape {
        rows: ROWS,
        key_bytes: KEY_BYTES,
        value_bytes: VALUE_BYTES,
        compressible_to: 0.5,
    };
    let spec = OpenSpec::embedded(dir.to_owned(), settings(CACHE_BYTES), data);
    let engine = driver_rocksdb::open_library(library)?.open(&OpenSpec { options, ..spec })?;
    let info = catalog().into_iter().find(|info| info.name == step.name).ok_or("no such step")?;
    let kind = *info.needs.first().ok_or("a step without operations")?;
    let (counts, done) = run(engine.as_ref(), step, (&data, None), kind)?;
    if counts.not_found > 0 {
        return Err(format!("{} keys were not found", counts.not_found).into());
    }
    if step.name == "fillseq" {
        engine.maintain(Maintenance::CompactAll)?;
    }
    engine.close()?;
    Ok(done)
}

fn on_server(
    step: &Step,
    setup: ApplicationSetup,
    dialect: Dialect,
    endpoint: Endpoint,
) -> Result<Done> {
    // Drivers store the token of their tables there.
    let dir = tempfile::tempdir()?;
    let data = DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 0.5 };
    let spec = OpenSpec {
        endpoint: Some(endpoint),
        application: Some(setup.clone()),
        ..OpenSpec::embedded(dir.path().to_owned(), settings(SERVER_CACHE_BYTES), data)
    };
    let driver = match dialect {
        Dialect::Postgres => driver_postgres::driver(),
        Dialect::Mysql => driver_mysql::driver(),
    };
    let engine = driver.open(&spec)?;
    let server = engine.server().ok_or("an embedded engine has no tables")?;
    let tables = Tables::query(&setup, 0, |table, number| server.bounds(table, number))?;
    let kind = setup.application.procedures[0].kind;
    let (counts, done) = run(engine.as_ref(), step, (&data, Some(&tables)), kind)?;
    if counts.rows != counts.done {
        return Err(format!("{} rows in {} statements", counts.rows, counts.done).into());
    }
    engine.close()?;
    Ok(done)
}

/// Returns the settings of an engine; a server's session could request another durability.
pub(crate) fn settings(cache_bytes: u64) -> Settings {
    let (durability, cache_bytes) = (Durability::None, Some(Bytes(cache_bytes)));
    Settings { durability, cache_bytes, ..Settings::default() }
}

/// Runs a step of one kind of operation, on keys and values or on an application's tables.
fn run(
    engine: &dyn Engine,
    step: &Step,
    (data, tables): (&DataShape, Option<&Tables>),
    kind: OpKind,
) -> Result<(OpCounts, Done)> {
    let (presence, group) = (Presence::All, Group::Clients);
    let request = Request { step, data, seed: 1, presence, group };
    let generators = match tables {
        Some(tables) => calls::generators(&request, tables),
        None => generators(&request),
    }?;
    let mut run = StepRun {
        engine,
        clients: GroupRun { generators, load: step.load.clone(), kinds: [kind].into() },
        writers: GroupRun::empty(),
        holders: HolderRun::default(),
        stop: step.stop,
        warmup: step.warmup,
        interval: INTERVAL,
        is_checking: true,
        arrival_seed: 1,
        share: None,
        agree_start: None,
        faults: Faults::default(),
        stop_flag: StopFlag::default(),
    };
    let totals = run_step(&SteadyClock::calibrate(), &mut run, &mut |_| {})?;
    let counts = totals.clients.get(&kind).ok_or("no operation was done")?.counts;
    let per_s = counts.done as f64 / totals.duration.as_secs_f64();
    Ok((counts, Done { operations: counts.done, per_s }))
}
