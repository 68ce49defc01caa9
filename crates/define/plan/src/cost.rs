//! Estimates of a run's machine time and storage space.
//!
//! The figures are for estimates only; no result depends on them.

use model::server::REPLICA;
use model::sql::CallMix;
use model::{
    Application, Bytes, Dialect, Experiment, Load, Nanos, OpKind, Step, StopRule, Variant, whole,
};

use crate::catalog::Catalog;
use crate::clients::levels_up_to;
use crate::window::span_of;

/// Rows per second that a fill of an engine in the client's process reaches.
pub(crate) const ROWS_PER_S: u64 = 150_000;
/// Rows per second that a server takes, in statements of some rows; the same for its requests.
pub(crate) const SERVER_ROWS_PER_S: u64 = 20_000;
/// Rows per second of a statement that works on a whole table, such as the build of an index.
const TABLE_ROWS_PER_S: u64 = 150_000;
/// Bytes of a snapshot that are copied in a second, where the file system cannot share them.
const RESTORED_BYTES_PER_S: u64 = 1 << 29;
/// Probes a search for the highest rate makes.
const PROBES: u64 = 12;
/// Length of its confirmation, in durations of the step.
const CONFIRMATION: u64 = 10;
/// Time to start a worker, open and close the engine and take the readings.
const OVERHEAD: Nanos = Nanos::from_millis(700);
/// Space one run may take, as a multiple of its live rows: obsolete versions and the transient
/// copies of a compaction each take up to as much again.
const DISK_PER_LIVE: u64 = 3;
/// The same for the rows of an application: headers, and indexes that are larger than such rows.
pub(crate) const DISK_PER_ROW: u64 = 6;

/// Time to make, start and stop a server, and what it stores before the first row.
///
/// Our measurement, on a 2-vCPU virtual machine: Postgres 12 to 18, MySQL 5.6 to 9.7.
const fn of_server(dialect: Dialect) -> (Nanos, Bytes) {
    match dialect {
        Dialect::Postgres => (Nanos::from_secs(2), Bytes(100 << 20)),
        Dialect::Mysql => (Nanos::from_secs(13), Bytes(600 << 20)),
    }
}

/// Inputs of a variant's cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The server's dialect, when it is one.
    dialect: Option<Dialect>,
    /// Whether it runs already, somewhere.
    is_foreign: bool,
    /// Databases on storage: two with a standby.
    databases: u64,
}

impl Cost {
    pub(crate) fn of(variant: &Variant, catalog: &dyn Catalog) -> Self {
        let known = catalog.engines();
        let info = known.iter().find(|info| info.name == variant.build.engine);
        let dialect = info.and_then(|info| info.dialect);
        let databases = 1 + u64::from(variant.options.get(REPLICA).is_some());
        Self { dialect, is_foreign: variant.dsn.is_some(), databases }
    }

    /// Returns the largest space one run takes on storage here.
    pub(crate) fn disk(self, experiment: &Experiment) -> Bytes {
        if self.is_foreign {
            return Bytes(0);
        }
        if experiment.device.is_some() {
            return experiment.data.live_bytes();
        }
        let own = self.dialect.map_or(0, |dialect| of_server(dialect).1.0);
        let rows = match &experiment.application {
            None => experiment.data.live_bytes().0.saturating_mul(DISK_PER_LIVE),
            Some(application) => stored_rows(experiment, application)
                .saturating_mul(u64::from(application.row_bytes))
                .saturating_mul(DISK_PER_ROW),
        };
        Bytes(rows.saturating_add(own).saturating_mul(self.databases))
    }

    /// Returns the machine time of one run at a level of clients.
    pub(crate) fn time(self, experiment: &Experiment, clients: u32) -> Nanos {
        let steps = experiment.steps_for(clients);
        let spans = steps.iter().map(|step| self.step_time(experiment, step));
        let started = match self.dialect.filter(|_| !self.is_foreign) {
            Some(dialect) => of_server(dialect).0,
            None => Nanos(0),
        };
        Nanos(spans.fold(OVERHEAD.0.saturating_add(started.0), u64::saturating_add))
    }

    /// Returns the machine time of the steps that make the database of a run.
    pub(crate) fn load_time(self, experiment: &Experiment, clients: u32) -> Nanos {
        let steps = experiment.steps_for(clients);
        let loading = steps.iter().take(experiment.loading_steps());
        Nanos(loading.map(|step| self.step_time(experiment, step)).fold(0, u64::saturating_add))
    }

    /// Returns the time to restore a run's database, copied byte by byte.
    pub(crate) fn restore_time(self, experiment: &Experiment) -> Nanos {
        Nanos::from_secs(self.disk(experiment).0 / RESTORED_BYTES_PER_S)
    }

    /// Returns one step's machine time, in nanoseconds.
    fn step_time(self, experiment: &Experiment, step: &Step) -> u64 {
        let span = match (step.stop, &step.load) {
            (StopRule::Duration(span), _) => span.0,
            (StopRule::Operations(n), Load::Open(open)) => span_of(&open.rate, n).0,
            (StopRule::Operations(n), _) => {
                let (rows, rows_per_s) = self.rows(experiment, step, n);
                rows.saturating_mul(1_000_000_000) / rows_per_s
            }
        };
        let probe = span.saturating_add(step.warmup.0);
        match step.load {
            Load::Closed | Load::Pipelined(_) | Load::Open(_) => probe,
            Load::FindRate(_) => {
                probe.saturating_mul(PROBES).saturating_add(span.saturating_mul(CONFIRMATION))
            }
            Load::FindClients => probe.saturating_mul(levels_up_to(step.clients) + 1),
        }
    }

    /// Returns the rows of a step of so many operations, and how many of them a second takes.
    fn rows(self, experiment: &Experiment, step: &Step, operations: u64) -> (u64, u64) {
        let application = experiment.application.as_ref();
        match application.and_then(|application| application.step(&step.name)) {
            Some(traffic_spec) => {
                let is_whole = traffic_spec.clients.as_ref().is_some_and(CallMix::is_once);
                let rows_per_s = if is_whole { TABLE_ROWS_PER_S } else { SERVER_ROWS_PER_S };
                (traffic_spec.rows.map_or(0, |rows| rows.of(experiment.data.rows)), rows_per_s)
            }
            None if self.dialect.is_some() => (operations, SERVER_ROWS_PER_S),
            None => (operations, ROWS_PER_S),
        }
    }
}

/// Returns the most rows in the tables, without deletes.
fn stored_rows(experiment: &Experiment, application: &Application) -> u64 {
    let inserts = |call_mix: &CallMix| {
        let kinds = call_mix.positions().filter_map(|at| Some(application.procedure(at)?.kind));
        !call_mix.is_once() && kinds.into_iter().any(|kind| kind == OpKind::Insert)
    };
    let clients = experiment.clients.iter().copied().max().unwrap_or(1);
    let rows = |step: Step| {
        let Some(traffic_spec) = application.step(&step.name) else { return 0 };
        let own = traffic_spec.clients.as_ref().is_some_and(inserts);
        let own = traffic_spec.rows.filter(|_| own).map_or(0, |rows| rows.of(experiment.data.rows));
        let StopRule::Duration(span) = step.stop else { return own };
        let rate = traffic_spec.background.as_ref().map_or(0.0, |background| background.rows_per_s);
        own.saturating_add(whole(rate * f64::from(step.clients) * span.as_secs_f64()))
    };
    experiment.steps_for(clients).into_iter().map(rows).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand::{Room, expand};
    use crate::experiment::load;
    use crate::overrides::Overrides;
    use crate::tests::sample::{MACHINE, TestCatalog};

    /// Returns seconds and mebibytes of ibench-2023 with this text after its variant's name.
    fn planned(variant: &str) -> (f64, f64) {
        let text = format!(
            "[experiment]\nname = \"s\"\nquestion = \"?\"\n[benchmark]\nrows = \"1M\"\n\
             duration = \"10s\"\nworkload = \"ibench-2023\"\n\
             steps = [\"l.i0\", \"l.x\", \"l.i1\", \"q1000\"]\n\
             [[variant]]\nname = \"a\"\n{variant}"
        );
        let known = TestCatalog::default();
        let checked = load("s.toml", &text, &Overrides::default(), &known, MACHINE).unwrap();
        let room = Room { free: Bytes(1 << 40), floor: Bytes(0) };
        let plan = expand(checked.experiment, &known, room).unwrap();
        (plan.estimated_ns.as_secs_f64(), plan.estimated_disk_bytes.0 as f64 / f64::from(1 << 20))
    }

    #[test]
    fn a_server_s_rows_and_its_start_take_time_and_space() {
        let near = |found: (f64, f64), expected: (f64, f64)| {
            (found.0 - expected.0).abs() < 0.1 && (found.1 - expected.1).abs() < 0.1
        };
        // Two million rows in statements, one in an index, eleven seconds and the overhead.
        let rows = 50.0 + 1e6 / 150e3 + 50.0 + 11.0 + 0.7;
        let bytes = 6.0 * 45.0 * 2.01e6 / f64::from(1 << 20);
        assert!(near(planned("engine = \"pg@15\""), (rows + 2.0, bytes + 100.0)));
        assert!(near(planned("engine = \"my@8\""), (rows + 13.0, bytes + 600.0)));
        let standby = planned("engine = \"pg@15\"\noptions = { \"assay.replica\" = \"sync\" }");
        assert!(near(standby, (rows + 2.0, 2.0 * (bytes + 100.0))), "{standby:?}");
        let foreign = planned("engine = \"pg\"\ndsn = \"postgres://me@db/x\"");
        assert!(near(foreign, (rows, 0.0)), "{foreign:?}");
    }
}
