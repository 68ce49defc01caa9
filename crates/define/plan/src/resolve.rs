//! Resolves fields of an experiment file to checked values.

use std::path::Path;

use application::{Described, describe};
use model::sql::TrafficSpec;
use model::{Bytes, Load, Nanos, OpUnit, Step, StepInfo, StepRole, StopRule, float, whole};
use reader::error::{Errors, PlanError, Source};
use reader::place::{Place, Placed};

use crate::catalog::{Catalog, Machine};
use crate::events;
use crate::peers::{StepOfPeer, step_of_peer};
use crate::preset::Preset;
use crate::settings::{
    BATCH_KEYS, DISTRIBUTION, DURATION, FIELD_BYTES, Key, OPERATIONS, RANGE_ROWS, SETTLE_CAP, STEP,
    STEP_CLIENTS, WARMUP, WRITER_RATE,
};
use crate::spec::Section;

/// Default length of a step that ends by duration.
///
/// Our choice: a minute is the shortest that shows compaction; [Callaghan mytools] uses more.
const DURATION_DEFAULT: Nanos = Nanos::from_secs(60);
/// Longest default warm-up, which is a tenth of the duration.
const WARMUP_MAX: Nanos = Nanos::from_secs(5);
/// Default longest settle.
const SETTLE_CAP_DEFAULT: Nanos = Nanos::from_secs(1200);
/// The same for an application's steps: a minute, and a second per million rows.
///
/// Source: [Callaghan mytools], settle phase of the insert benchmark.
const SETTLE_CAP_LEAST: Nanos = Nanos::from_secs(60);
const SETTLE_PER_ROW: Nanos = Nanos(1_000);
/// Rate of the background writer. Source: benchmark_compare.sh, `MB_WRITE_PER_SEC` (2 MiB/s).
const WRITER_RATE_DEFAULT: Bytes = Bytes(2 << 20);
/// Rows of a range read. Source: benchmark.sh, `seek_nexts`.
const RANGE_ROWS_DEFAULT: u32 = 10;
/// Keys of a `multi_get`. Source: benchmark.sh, `batch_size` of multireadrandom.
const BATCH_KEYS_DEFAULT: u32 = 10;

/// Context of the checks of one experiment file.
pub(crate) struct Resolver<'a> {
    pub(crate) source: &'a Source,
    pub(crate) catalog: &'a dyn Catalog,
    pub(crate) machine: Machine,
    /// The preset of sizes, if the workload is one.
    pub(crate) preset: Option<&'static Preset>,
    /// The SQL application; `None` for key-value workloads.
    pub(crate) application: Option<&'a Described>,
}

impl Resolver<'_> {
    /// Returns the folder that a path is relative to: the file's, or the current directory.
    pub(crate) fn folder(&self, place: &Place) -> &Path {
        let folder = Path::new(&self.source.name).parent().filter(|_| place.is_text());
        folder.unwrap_or(Path::new(""))
    }

    /// Checks one step and resolves its defaults, except the load.
    pub(crate) fn step(
        &self,
        table: &Section,
        benchmark: &Section,
        rows: u64,
    ) -> Result<(Step, StepInfo), PlanError> {
        let (name, tables) = (table.text(STEP), [table, benchmark]);
        let info = self.step_info(name, table.place.clone())?;
        self.check_step_settings(table)?;
        let mut errors = Errors::default();
        let stop =
            errors.ok(self.stop_rule(tables, &info, rows)).unwrap_or(StopRule::Operations(1));
        let warmup = match stop {
            StopRule::Operations(_) => Nanos(0),
            StopRule::Duration(length) => {
                first(tables, WARMUP).unwrap_or_else(|| Nanos(length.0 / 10).min(WARMUP_MAX))
            }
        };
        let distribution = tables.iter().find_map(|table| table.get(DISTRIBUTION));
        if let Some(Placed { value, place }) = distribution {
            let checked = self.catalog.check_distribution(value, rows);
            errors.ok(checked.map_err(|why| PlanError::here(place, why)));
        }
        let step = Step {
            clients: errors.ok(self.step_clients(table, &info)).unwrap_or(1),
            connections: self.traffic_spec(name).map_or(1, |spec| spec.client_connections().max(1)),
            stop,
            warmup,
            load: Load::Closed,
            limit: None,
            distribution: distribution.map_or_else(|| "uniform".to_owned(), |it| it.value.clone()),
            range_rows: first(tables, RANGE_ROWS).unwrap_or(RANGE_ROWS_DEFAULT),
            batch_keys: first(tables, BATCH_KEYS).unwrap_or(BATCH_KEYS_DEFAULT),
            field_bytes: first(tables, FIELD_BYTES).unwrap_or_else(|| Step::default().field_bytes),
            writer_bytes_per_s: info
                .has_writer
                .then(|| first(tables, WRITER_RATE).unwrap_or(WRITER_RATE_DEFAULT)),
            settle_cap: first(tables, SETTLE_CAP).unwrap_or_else(|| self.settle_cap(rows)),
            unit: self
                .traffic_spec(name)
                .map_or(OpUnit::Operation, |traffic_spec| traffic_spec.unit),
            events: errors.or_default(events::requested(table, &info, stop)),
            name: name.to_owned(),
        };
        errors.result((step, info))
    }

    /// Returns the application's step of that name.
    fn traffic_spec(&self, name: &str) -> Option<&TrafficSpec> {
        self.application.and_then(|loaded| loaded.application.step(name))
    }

    /// Returns the default longest settle.
    fn settle_cap(&self, rows: u64) -> Nanos {
        let more = Nanos(rows.saturating_mul(SETTLE_PER_ROW.0));
        match self.application {
            Some(_) => Nanos(SETTLE_CAP_LEAST.0.saturating_add(more.0)).min(SETTLE_CAP_DEFAULT),
            None => SETTLE_CAP_DEFAULT,
        }
    }

    fn step_info(&self, name: &str, place: Place) -> Result<StepInfo, PlanError> {
        let known = self.known_steps();
        if let Some(info) = known.iter().find(|info| info.name == name) {
            return Ok(info.clone());
        }
        if let Some(loaded) = self.application
            && self.catalog.steps().iter().any(|info| info.name == name)
        {
            let application = &loaded.application.name;
            let why = format!("{name} is a key-value step, and {application} has tables");
            return Err(PlanError::here(place, why).remedy("leave out this step, or `workload`"));
        }
        let names: Vec<&str> = known.iter().map(|info| info.name.as_ref()).collect();
        let with = |application: &str| match place.is_text() {
            true => format!("workload = \"{application}\" in [benchmark]"),
            false => format!("--workload {application}"),
        };
        let is_had = |peer: &StepOfPeer| peer.workload.is_some() || names.contains(&peer.step);
        let remedy = match step_of_peer(name).filter(is_had) {
            Some(StepOfPeer { tool, step, workload }) => {
                let with =
                    workload.map_or_else(String::new, |name| format!(" with {}", with(name)));
                Some(format!("nearest to step {name} of {tool} is `{step}`{with}"))
            }
            None => self.applications_with(name).first().map(|first| {
                format!("`{name}` is a step of an application of SQL servers: add {}", with(first))
            }),
        };
        let error = PlanError::new(format!("unknown step `{name}`")).at(place, "no such step");
        Err(match remedy {
            Some(remedy) => error.remedy(remedy),
            None => {
                error.meant(name, names.iter().copied(), format!("steps: {}", names.join(", ")))
            }
        })
    }

    /// Returns the shipped applications with that step, where the experiment has none.
    fn applications_with(&self, step: &str) -> Vec<String> {
        let names = self.catalog.application_names().into_iter();
        let names = names.filter(|_| self.application.is_none());
        let has_it = |name: &String| {
            describe(name, self.catalog).is_ok_and(|it| it.application.step(step).is_some())
        };
        names.filter(has_it).collect()
    }

    fn stop_rule(
        &self,
        tables: [&Section; 2],
        info: &StepInfo,
        rows: u64,
    ) -> Result<StopRule, PlanError> {
        let table = tables[0];
        let refuse = |why: String| PlanError::here(&table.place, why);
        if info.role == StepRole::Maintain {
            return Ok(StopRule::Operations(0));
        }
        if let Some(operations) = table.value(OPERATIONS) {
            let is_of_rows = self.application.is_some() && info.share_of_rows.is_some();
            if info.role == StepRole::Load || is_of_rows {
                return Err(refuse(format!(
                    "{} ends after a number of rows: set `rows` instead",
                    info.name
                )));
            }
            return Ok(StopRule::Operations(operations));
        }
        let Some(share) = info.share_of_rows else {
            return Ok(StopRule::Duration(first(tables, DURATION).unwrap_or(DURATION_DEFAULT)));
        };
        if table.get(DURATION).is_some() {
            return Err(refuse(format!(
                "{} ends after a number of rows, so it takes no duration",
                info.name
            )));
        }
        let calls = self.application.and_then(|loaded| {
            let application = &loaded.application;
            application.calls(application.step(&info.name)?, rows, 1)
        });
        Ok(StopRule::Operations(calls.unwrap_or_else(|| share_of(rows, share))))
    }

    /// Returns the step's own client count; 0 means that it follows the experiment's factor.
    fn step_clients(&self, table: &Section, info: &StepInfo) -> Result<u32, PlanError> {
        match table.value(STEP_CLIENTS) {
            Some(clients) if info.is_single_client && clients > 1 => {
                let why = format!("{} runs with one client", info.name);
                Err(PlanError::here(&table.place, why))
            }
            Some(clients) => Ok(clients),
            None => Ok(u32::from(info.is_single_client)),
        }
    }
}

/// Returns the value of a setting in the first of the tables that has one.
fn first<T>(tables: [&Section; 2], key: &Key<T>) -> Option<T> {
    tables.into_iter().find_map(|table| table.value(key))
}

/// Returns `share` of `rows`, at least one.
fn share_of(rows: u64, share: f64) -> u64 {
    whole(float(rows) * share).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::{checked, experiment};

    /// Returns the third step of the sample, with further fields.
    fn third(fields: &str) -> Step {
        let table = format!("{{ step = \"readwhilewriting\", {fields} }}");
        experiment("\"readwhilewriting\"", &table).steps.remove(2)
    }

    #[test]
    fn a_step_that_ends_by_rows_has_no_warm_up() {
        let steps = experiment("10k", "10k").steps;
        assert_eq!((steps[0].stop, steps[0].warmup), (StopRule::Operations(10_000), Nanos(0)));
        assert_eq!((steps[1].stop, steps[1].warmup), (StopRule::Operations(1000), Nanos(0)));
        assert_eq!(experiment("10k", "3").steps[1].stop, StopRule::Operations(1), "at least one");
    }

    #[test]
    fn warm_up_is_a_tenth_of_the_duration_and_at_most_five_seconds() {
        let warmup = |fields: &str| third(fields).warmup;
        assert_eq!(warmup("duration = \"10s\""), Nanos::from_secs(1));
        assert_eq!(warmup("duration = \"10m\""), Nanos::from_secs(5));
        assert_eq!(warmup("duration = \"10m\", warmup = \"1m\""), Nanos::from_secs(60));
        assert_eq!(warmup("operations = 500"), Nanos(0));
    }

    #[test]
    fn what_is_too_short_or_too_small_to_be_measured_is_rejected() {
        let refused = |new: &str| checked("\"readwhilewriting\"]", new).unwrap_err().to_string();
        let step =
            |span: &str| format!("{{ step = \"readwhilewriting\", duration = \"{span}\" }}]");
        assert!(refused(&step("1us")).ends_with("give 10ms or more"), "{}", refused(&step("1us")));
        assert_eq!(third("duration = \"10ms\"").stop, StopRule::Duration(Nanos::from_millis(10)));
        let shared = refused("\"readwhilewriting\"]\nduration = \"9.9ms\"");
        assert!(shared.ends_with("give 10ms or more"), "{shared}");
        let memory = refused("\"readwhilewriting\"]\nmemory = \"4095KiB\"");
        assert!(memory.ends_with("give 4MiB or more"), "{memory}");
    }

    #[test]
    fn a_steps_own_fields_win_over_the_benchmarks() {
        let shared = "rows = \"10k\"\nduration = \"7s\"\nrange_rows = 7\nwriter_rate = \"7MiB/s\"";
        let steps = experiment("rows = \"10k\"", shared).steps;
        assert_eq!(steps[2].stop, StopRule::Duration(Nanos::from_secs(7)));
        assert_eq!((steps[2].range_rows, steps[2].writer_bytes_per_s), (7, Some(Bytes(7 << 20))));
        let own = third("duration = \"9s\", range_rows = 9, writer_rate = \"9MiB/s\"");
        assert_eq!(own.stop, StopRule::Duration(Nanos::from_secs(9)));
        assert_eq!((own.range_rows, own.writer_bytes_per_s), (9, Some(Bytes(9 << 20))));
    }

    #[test]
    fn a_step_follows_the_client_factor_unless_it_has_its_own_count() {
        let steps = experiment("10k", "10k").steps;
        assert_eq!([steps[0].clients, steps[2].clients], [1, 0]);
        assert_eq!(third("clients = 3").clients, 3);
        let refused = checked("\"fillseq\"", "{ step = \"fillseq\", clients = 2 }").unwrap_err();
        assert_eq!(refused.to_string(), "fillseq runs with one client");
    }

    #[test]
    fn only_steps_with_a_writer_have_its_rate() {
        let steps = experiment("10k", "10k").steps;
        assert_eq!(steps[1].writer_bytes_per_s, None);
        assert_eq!(steps[2].writer_bytes_per_s, Some(WRITER_RATE_DEFAULT));
        let stopped = checked("\"10k\"", "1\nwriter_rate = 0").unwrap_err();
        assert!(stopped.to_string().starts_with("the writer's rate is zero"), "{stopped}");
    }

    #[test]
    fn setting_that_no_step_uses_is_rejected() {
        for setting in
            ["writer_rate = \"1MiB/s\"", "range_rows = 3", "batch_keys = 4", "field_bytes = 9"]
        {
            let reads = format!("\"readrandom\"]\n{setting}");
            let refused = checked("\"readwhilewriting\"]", &reads).unwrap_err().to_string();
            let (key, _) = setting.split_once(' ').unwrap();
            assert_eq!(refused, format!("no step uses `{key}`"));
        }
    }

    #[test]
    fn the_workload_checks_the_resolved_step() {
        let refused = checked("\"10k\"", "10\nrange_rows = 101").unwrap_err();
        assert_eq!(refused.to_string(), "only 10 rows");
    }
}
