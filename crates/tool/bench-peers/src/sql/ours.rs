//! Our SQL client: loop, generators and driver, without supervisor.

use std::sync::Arc;

use engine::{ApplicationSetup, Engine, OpenSpec};
use model::{DataShape, Endpoint, Step, StopRule};
use serde::{Deserialize, Serialize};
use workload::Tables;

use super::application::{STEP, application};
use super::comparison::Done;
use super::host::settings;
use super::registry::COMPARISONS;
use super::work::{Statement, WORKS, Work};
use crate::ours::{StepTotals, run};

/// Option: run as our side of the SQL comparison; a job in JSON follows.
pub(crate) const OURS_SQL: &str = "--ours-sql";

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
fn drive(
    engine: &dyn Engine,
    setup: &ApplicationSetup,
    (work, count): (&Work, u64),
) -> Result<Done, String> {
    let step = Step::new(STEP, StopRule::Operations(count));
    let bounds = |table, number| engine.bounds(table, number);
    let tables = Tables::query(setup, 0, bounds).map_err(|error| error.to_string())?;
    let totals = run(engine, &step, (&shape(), Some(&tables)), [work.kind].into())?;
    let StepTotals { done: statements, rows, per_s, .. } = totals;
    if rows != statements {
        return Err(format!("{rows} rows in {statements} statements"));
    }
    Ok(Done { statements, per_s })
}

/// Returns the shape of keys and values, not used by procedures.
const fn shape() -> DataShape {
    DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 0.5 }
}
