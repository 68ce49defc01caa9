//! Our SQL client: loop, generators and driver, without supervisor.

use std::sync::Arc;

use engine::{ApplicationSetup, Engine, OpenSpec};
use load::{GroupRun, SteadyClock, StepRun, StopFlag, run_step};
use model::{DataShape, Endpoint, Nanos, Step, StopRule};
use serde::{Deserialize, Serialize};
use workload::{Group, Presence, Request, Tables, generators};

use super::application::{STEP, application};
use super::comparison::Done;
use super::host::settings;
use super::registry::COMPARISONS;
use super::work::{Statement, WORKS, Work};

/// Option: run as our side of the SQL comparison; a job in JSON follows.
pub(crate) const OURS_SQL: &str = "--ours-sql";

/// Longest interval: valgrind slows a program down some fifty times, so one-second interval ends
/// would weigh fifty times as much as in a run.
const INTERVAL: Nanos = Nanos::from_secs(60);

/// The task of one process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The peer of the comparison.
    pub(crate) peer: String,
    /// The statement.
    pub(crate) statement: Statement,
    /// Executions.
    pub(crate) statements: u64,
    /// The server, which requires no password.
    pub(crate) endpoint: Endpoint,
}

/// Executes a job.
///
/// # Errors
/// When the server fails, an answer is wrong, or the statement count differs.
pub(crate) fn execute(job: &Job) -> Result<Done, String> {
    let comparison = COMPARISONS.into_iter().find(|comparison| comparison.peer == job.peer);
    let comparison = comparison.ok_or_else(|| format!("no comparison with `{}`", job.peer))?;
    let work = WORKS.iter().find(|work| work.statement == job.statement).ok_or("no such work")?;
    let application = Arc::new(application(work, (comparison.statement_spec)(job.statement)));
    let setup = ApplicationSetup { application, clients: 1 };
    // Drivers store the token of their tables there.
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let spec = OpenSpec {
        endpoint: Some(job.endpoint.clone()),
        application: Some(setup.clone()),
        ..OpenSpec::embedded(dir.path().to_owned(), settings(), shape())
    };
    let engine = (comparison.driver)().open(&spec).map_err(|error| error.to_string())?;
    let done = drive(engine.as_ref(), &setup, (work, job.statements))?;
    engine.close().map_err(|error| error.to_string())?;
    Ok(done)
}

/// Runs the step.
#[expect(clippy::cast_precision_loss, reason = "statements and nanoseconds are below 2^53")]
fn drive(
    engine: &dyn Engine,
    setup: &ApplicationSetup,
    (work, count): (&Work, u64),
) -> Result<Done, String> {
    let step = Step::new(STEP, StopRule::Operations(count));
    let data = shape();
    let bounds = |table, number| engine.bounds(table, number);
    let tables = Tables::query(setup, 0, bounds).map_err(|error| error.to_string())?;
    let request = Request {
        step: &step,
        data: &data,
        seed: 1,
        presence: Presence::All,
        group: Group::Clients,
        tables: Some(&tables),
    };
    let generators = generators(&request).map_err(|error| error.to_string())?;
    let mut run = StepRun {
        engine,
        clients: GroupRun { generators, load: step.load.clone(), kinds: [work.kind].into() },
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
    let counts = || totals.clients.values().map(|tally| tally.counts);
    let statements: u64 = counts().map(|counts| counts.done).sum();
    let rows: u64 = counts().map(|counts| counts.rows).sum();
    if rows != statements {
        return Err(format!("{rows} rows in {statements} statements"));
    }
    Ok(Done { statements, per_s: statements as f64 * 1e9 / totals.duration.0 as f64 })
}

/// Returns the shape of keys and values, not used by procedures.
const fn shape() -> DataShape {
    DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 0.5 }
}
