//! Our RocksDB client: loop, generators and driver, without supervisor.

use std::collections::BTreeSet;

use engine::{Driver, Engine, Maintenance, OpenSpec};
use load::{GroupRun, SteadyClock, StepRun, StopFlag, run_step};
use model::record::OpCounts;
use model::{Bytes, DataShape, Durability, Nanos, OpKind, Options, Settings, Step, StopRule};
use workload::{Group, Presence, Request, Tables, catalog, generators};

use crate::task::{CACHE_BYTES, KEY_BYTES, MEMTABLE_BYTES, RANGE_ROWS, ROWS, Task, VALUE_BYTES};

/// Option: run as our side of the comparison; a task in JSON follows.
pub(crate) const OURS: &str = "--ours";

/// The profile of `db_bench`'s built-in settings.
const PROFILE: &str = include_str!("../../../../profiles/rocksdb-dbbench.toml");

/// Longest interval: valgrind slows a program down some fifty times, so one-second interval ends
/// would weigh fifty times as much as in a run.
const INTERVAL: Nanos = Nanos::from_secs(60);

/// Executes a task and returns its operations per second.
///
/// # Errors
/// When the engine fails, an answer is wrong, or the operation count differs.
pub(crate) fn execute(task: &Task) -> Result<f64, String> {
    let driver = driver_rocksdb::open_library(&task.library).map_err(|error| error.to_string())?;
    let engine = open(driver.as_ref(), task)?;
    let rate = drive(engine.as_ref(), task)?;
    if task.step == "fillseq" {
        engine.maintain(Maintenance::CompactAll).map_err(|error| error.to_string())?;
    }
    engine.close().map_err(|error| error.to_string())?;
    Ok(rate)
}

/// Runs the step.
fn drive(engine: &dyn Engine, task: &Task) -> Result<f64, String> {
    let info = catalog().into_iter().find(|info| info.name == task.step);
    let info = info.ok_or_else(|| format!("no step `{}`", task.step))?;
    let totals = run(engine, &step(task), (&shape(), None), info.needs)?;
    let StepTotals { done, not_found, .. } = totals;
    if done != task.operations || not_found > 0 {
        return Err(format!("{done} of {} done, {not_found} not found", task.operations));
    }
    Ok(totals.per_s)
}

/// What the clients of a step have done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepTotals {
    /// Operations done.
    pub(crate) done: u64,
    /// Reads that found nothing.
    pub(crate) not_found: u64,
    /// Rows read and written.
    pub(crate) rows: u64,
    /// Operations per second.
    pub(crate) per_s: f64,
}

/// Runs a step on keys and values, or on an application's tables.
///
/// # Errors
/// When the engine fails, or an answer is wrong.
#[expect(clippy::cast_precision_loss, reason = "operations and nanoseconds are below 2^53")]
pub(crate) fn run(
    engine: &dyn Engine,
    step: &Step,
    (data, tables): (&DataShape, Option<&Tables>),
    kinds: BTreeSet<OpKind>,
) -> Result<StepTotals, String> {
    let (presence, group) = (Presence::All, Group::Clients);
    let request = Request { step, data, seed: 1, presence, group, tables };
    let generators = generators(&request).map_err(|error| error.to_string())?;
    let mut run = StepRun {
        engine,
        clients: GroupRun { generators, load: step.load.clone(), kinds },
        writers: GroupRun::empty(),
        stop: step.stop,
        warmup: step.warmup,
        interval: INTERVAL,
        is_checking: true,
        arrival_seed: 1,
        stop_flag: StopFlag::default(),
    };
    let clock = SteadyClock::calibrate();
    let totals = run_step(&clock, &mut run, &mut |_| {}).map_err(|error| error.to_string())?;
    let sum =
        |of: fn(&OpCounts) -> u64| totals.clients.values().map(|tally| of(&tally.counts)).sum();
    let done = sum(|counts| counts.done);
    Ok(StepTotals {
        done,
        not_found: sum(|counts| counts.not_found),
        rows: sum(|counts| counts.rows),
        per_s: done as f64 * 1e9 / totals.duration.0 as f64,
    })
}

fn open(driver: &dyn Driver, task: &Task) -> Result<Box<dyn Engine>, String> {
    let settings = Settings {
        durability: Durability::None,
        cache_bytes: Some(Bytes(CACHE_BYTES)),
        ..Settings::default()
    };
    let options = options()?;
    let spec = OpenSpec {
        endpoint: None,
        application: None,
        dir: task.dir.clone(),
        settings,
        options,
        data: shape(),
    };
    driver.open(&spec).map_err(|error| error.to_string())
}

/// Returns the profile with the flags of `peer`.
fn options() -> Result<Options, String> {
    #[derive(serde::Deserialize)]
    struct Profile {
        options: Options,
    }
    let profile: Profile = toml::from_str(PROFILE).map_err(|error| error.to_string())?;
    let mut options = profile.options;
    options.set("write_buffer_size", MEMTABLE_BYTES.to_string());
    options.set("compression", "kNoCompression");
    Ok(options)
}

const fn shape() -> DataShape {
    DataShape { rows: ROWS, key_bytes: KEY_BYTES, value_bytes: VALUE_BYTES, compressible_to: 0.5 }
}

fn step(task: &Task) -> Step {
    Step {
        range_rows: RANGE_ROWS,
        batch_keys: 1,
        ..Step::new(task.step.clone(), StopRule::Operations(task.operations))
    }
}
