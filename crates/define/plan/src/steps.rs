//! Checks the steps of a benchmark: order, needs, tables and load.

use model::limits::STEPS_MAX;
use model::sql::{CallMix, Copies, TrafficSpec};
use model::{DataShape, Load, OpKind, Step, StepInfo, StepRole, StopRule};
use reader::error::{Errors, PlanError};
use reader::place::Place;

use crate::clients::ClientsFactor;
use crate::resolve::Resolver;
use crate::settings::{BATCH_KEYS, FIELD_BYTES, RANGE_ROWS, STEP, STEPS, Setting, WRITER_RATE};
use crate::spec::Section;
use crate::step_load::is_timed;

/// Returns whether a step uses a setting.
type Uses = fn(&StepInfo) -> bool;

fn reads_ranges(info: &StepInfo) -> bool {
    info.needs.contains(&OpKind::Scan) || info.needs.contains(&OpKind::ScanSequence)
}

/// Rows assumed when their number is invalid.
const ROWS_ASSUMED: u64 = 1_000_000;

impl Resolver<'_> {
    /// Checks the steps; returns them with the places of their loads.
    ///
    /// Without `data`, which is invalid itself, its limits are not checked.
    pub(crate) fn steps(
        &self,
        benchmark: &Section,
        data: Option<&DataShape>,
        factor: &ClientsFactor,
    ) -> Result<(Vec<Step>, Vec<Place>), PlanError> {
        let tables = self.requested_steps(benchmark);
        if let Some(beyond) = tables.get(STEPS_MAX) {
            let why = format!("{} steps are too many for one run", tables.len());
            let error = PlanError::here(&beyond.place, why);
            return Err(error.remedy(format!("at most {STEPS_MAX}: divide the experiment")));
        }
        let (mut steps, mut loads, mut errors) = (Vec::new(), Vec::new(), Errors::default());
        if let Some(load) = &benchmark.load {
            errors.ok(self.load_fields(load));
        }
        let named = |(_, table): &(usize, &Section)| table.get(STEP).is_some();
        for (index, table) in tables.iter().enumerate().filter(named) {
            let rows = data.map_or(ROWS_ASSUMED, |data| data.rows);
            let Some((step, info)) = errors.ok(self.step(table, benchmark, rows)) else { continue };
            errors.ok(self.check_order(index, &info, table.place.clone()));
            errors.ok(self.check_needs(&tables[..index], &step.name, table.place.clone()));
            let own = table.load.as_deref();
            let requested = self.step_load(&step, own, benchmark.load.as_deref(), factor);
            let requested = errors.or_default(requested);
            let step = Step { load: requested.load, limit: requested.limit, ..step };
            if let Some(data) = data {
                errors.ok(self.check_step(&step, data, table));
            }
            loads.push(match &step.load {
                _ if requested.place != Place::Unwritten => requested.place,
                Load::Closed | Load::Pipelined(_) => table.place.clone(),
                Load::FindClients => factor.place.clone(),
                Load::Open(_) | Load::FindRate(_) => Place::Unwritten,
            });
            steps.push(step);
        }
        if tables.is_empty() && !benchmark.is_partial {
            let remedy = match self.application {
                None => "for instance steps = [\"fillseq\", \"readrandom\"]",
                Some(_) => "leave out `steps` to run the steps of the application, in its order",
            };
            let error = PlanError::new("the benchmark has no steps");
            let place = benchmark.place_of(STEPS);
            errors.push(error.at(place, "an empty list").remedy(remedy));
        }
        // What concerns all steps can be checked when each is valid.
        if steps.len() < tables.len() || benchmark.is_partial {
            return errors.result((Vec::new(), Vec::new()));
        }
        if errors.is_empty() {
            errors.ok(self.check_tables(&steps, &tables, factor));
            errors.ok(self.check_reach(benchmark, &tables, &steps, factor));
            errors.ok(self.check_use(benchmark, &steps));
        }
        errors.result((steps, loads))
    }

    /// Checks that a load step comes first, and only there.
    fn check_order(&self, index: usize, info: &StepInfo, place: Place) -> Result<(), PlanError> {
        let refuse = |why: String| PlanError::here(place, why);
        match (index, info.role) {
            (0, StepRole::Load) => Ok(()),
            (0, _) => {
                let loads =
                    self.known_steps().into_iter().filter(|step| step.role == StepRole::Load);
                let loads: Vec<_> = loads.map(|step| step.name.into_owned()).collect();
                Err(refuse(format!("{} needs rows, but no step loads them", info.name))
                    .remedy(format!("begin with {}", listed(&loads))))
            }
            (_, StepRole::Load) if self.application.is_some() => {
                Err(refuse(format!("{} fills empty tables", info.name)).remedy("put it first"))
            }
            (_, StepRole::Load) => Err(refuse(format!("{} fills an empty engine", info.name))
                .remedy("put it first, or use overwrite")),
            (_, StepRole::Read | StepRole::Write | StepRole::ReadWrite | StepRole::Maintain) => {
                Ok(())
            }
        }
    }

    /// Checks that a step can be executed.
    fn check_step(&self, step: &Step, data: &DataShape, table: &Section) -> Result<(), PlanError> {
        let refuse = |why: String| PlanError::here(&table.place, why);
        let traffic_spec = self.application.and_then(|loaded| loaded.application.step(&step.name));
        match traffic_spec {
            None => self.catalog.check_step(step, data).map_err(refuse),
            Some(traffic_spec)
                if table.load.is_some()
                    && matches!(traffic_spec.clients, Some(CallMix::Once(_))) =>
            {
                let why = format!(
                    "step {}: the step does everything once, so it has no arrivals",
                    step.name
                );
                Err(refuse(why).remedy("leave out the step's load"))
            }
            Some(traffic_spec) => match self.paused(traffic_spec, &step.load) {
                Some(name) => {
                    let why = format!(
                        "step {}: the clients of `{name}` think and type, so calls do not arrive \
                         by a schedule",
                        step.name
                    );
                    let remedy = "leave out the step's load, or set `keying_ms` and `think_ms` to \
                                  0";
                    Err(refuse(why).remedy(remedy))
                }
                None => Ok(()),
            },
        }
    }

    /// Returns a procedure whose calls are paused, where the load leaves no room for that.
    fn paused(&self, traffic_spec: &TrafficSpec, load: &Load) -> Option<&str> {
        if matches!(load, Load::Closed | Load::FindClients) {
            return None;
        }
        let application = &self.application?.application;
        let positions = traffic_spec.clients.as_ref()?.positions();
        let mut called = positions.filter_map(|at| application.procedure(at));
        let paused = called.find(|procedure| procedure.policy.has_pauses())?;
        Some(&paused.name)
    }

    /// Checks that per-client tables are used by as many clients as filled them.
    fn check_tables(
        &self,
        steps: &[Step],
        written: &[Section],
        factor: &ClientsFactor,
    ) -> Result<(), PlanError> {
        let Some(loaded) = self.application else { return Ok(()) };
        let tables = &loaded.application.tables;
        let own = tables.iter().find(|table| table.copies == Copies::PerClient);
        let Some(table) = own else { return Ok(()) };
        if factor.is_adaptive {
            let why = format!("each client has separate tables `{}`", table.name);
            return Err(PlanError::new(format!(
                "{why}: the number of clients cannot change within a run"
            ))
            .at(&factor.place, "requested here")
            .remedy("give clients as a list or as \"sweep\""));
        }
        let levels = &factor.levels;
        let clients = |step: &Step| match (step.clients, &levels[..]) {
            (0, [level]) => *level,
            (own, _) => own,
        };
        let calls = |step: &Step| step.stop != StopRule::Operations(0);
        let Some(first) = steps.iter().find(|step| calls(step)) else { return Ok(()) };
        let differs = |(_, step): &(_, &Step)| calls(step) && clients(step) != clients(first);
        match written.iter().zip(steps).find(differs) {
            None => Ok(()),
            Some((entry, step)) => {
                let why = format!(
                    "{} and {} have different numbers of clients, but each client has separate \
                     tables `{}`",
                    first.name, step.name, table.name
                );
                let remedy = "leave out the step's `clients`: steps follow the factor `clients`";
                Err(PlanError::here(&entry.place, why).remedy(remedy))
            }
        }
    }

    /// Checks that some step uses each of the benchmark's settings that few steps have.
    fn check_use(&self, benchmark: &Section, steps: &[Step]) -> Result<(), PlanError> {
        let known = self.known_steps();
        let is_used = |uses: Uses| {
            let mut users = known.iter().filter(|info| uses(info));
            users.any(|info| steps.iter().any(|step| step.name == info.name))
        };
        let users: [(&Setting, Uses, &str); 4] = [
            (WRITER_RATE, |info| info.has_writer, "readwhilewriting"),
            (RANGE_ROWS, reads_ranges, "fwdrange"),
            (
                FIELD_BYTES,
                |info| info.needs.iter().any(|kind| kind.native().is_some()),
                "fieldread",
            ),
            (BATCH_KEYS, |info| info.needs.contains(&OpKind::MultiGet), "multireadrandom"),
        ];
        for (setting, uses, example) in users {
            let Some(value) = benchmark.get(setting).filter(|_| !is_used(uses)) else { continue };
            return Err(PlanError::here(&value.place, format!("no step uses `{}`", setting.key))
                .remedy(format!("leave out the setting, or add a step such as {example}")));
        }
        Ok(())
    }

    /// Checks that the benchmark's load and client search apply to some step.
    fn check_reach(
        &self,
        benchmark: &Section,
        tables: &[Section],
        steps: &[Step],
        factor: &ClientsFactor,
    ) -> Result<(), PlanError> {
        if factor.is_adaptive && !steps.iter().any(|step| step.load == Load::FindClients) {
            return Err(PlanError::new("no step can try numbers of clients")
                .at(&factor.place, "requested here")
                .remedy("add a step that ends by duration and does not set `clients`"));
        }
        let Some(load) = &benchmark.load else { return Ok(()) };
        let mut takers = tables.iter().zip(steps);
        if takers.any(|(table, step)| table.load.is_none() && is_timed(step))
            || load.load_word() == Some("closed")
        {
            return Ok(());
        }
        Err(PlanError::new("no step takes the benchmark's load")
            .at(&load.place, "requested here")
            .remedy(
                "the load applies to steps that end by duration and have no separate `load`, such \
                 as readwhilewriting; fills and maintenance stay a closed loop",
            ))
    }
}

/// Returns `a, b or c`.
fn listed(names: &[String]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}
