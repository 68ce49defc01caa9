//! Checks the steps of a benchmark: order, needs, tables and load.

use std::ops::Range;

use model::sql::{CallMix, Copies};
use model::{DataShape, Load, Step, StepInfo, StepRole, StopRule};
use toml::Spanned;

use crate::clients::ClientsFactor;
use crate::error::PlanError;
use crate::resolve::Resolver;
use crate::spec::{BenchmarkTable, StepEntry, WordOr};
use crate::step_load::is_timed;

impl Resolver<'_> {
    /// Checks the steps; returns them with the places of their loads.
    pub(crate) fn steps(
        &self,
        benchmark: &BenchmarkTable,
        data: &DataShape,
        factor: &ClientsFactor,
    ) -> Result<(Vec<Step>, Vec<Range<usize>>), PlanError> {
        let entries = self.requested_steps(benchmark);
        let (mut steps, mut loads) = (Vec::new(), Vec::new());
        for (index, entry) in entries.iter().enumerate() {
            let (step, info) = self.step(entry, benchmark, data.rows)?;
            self.check_order(index, &info, entry.span())?;
            self.check_needs(&steps, &step.name, entry.span())?;
            let own = match entry.get_ref() {
                WordOr::Word(_) => None,
                WordOr::Table(table) => table.load.as_ref(),
            };
            let shared = benchmark.load.as_ref();
            let requested = self.step_load(&step, own, shared, factor.is_adaptive)?;
            let step = Step { load: requested.load, limit: requested.limit, ..step };
            self.check_step(&step, data, (entry, own.is_some()))?;
            loads.push(match &step.load {
                _ if !requested.place.is_empty() => requested.place,
                Load::Closed | Load::Pipelined(_) => entry.span(),
                Load::FindClients => factor.place.clone(),
                Load::Open(_) | Load::FindRate(_) => 0..0,
            });
            steps.push(step);
        }
        if steps.is_empty() {
            let remedy = match self.application {
                None => "for instance steps = [\"fillseq\", \"readrandom\"]",
                Some(_) => "leave out `steps` for those of the application, in its order",
            };
            return Err(PlanError::new("the benchmark has no steps").remedy(remedy));
        }
        self.check_tables(&entries, &steps, factor)?;
        self.check_reach(benchmark, (&entries, &steps), factor)?;
        Ok((steps, loads))
    }

    /// Checks that a load step comes first, and only there.
    fn check_order(
        &self,
        index: usize,
        info: &StepInfo,
        place: Range<usize>,
    ) -> Result<(), PlanError> {
        let refuse = |why: String| PlanError::new(why).at(self.source, place, "here");
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

    /// Checks that a step can be executed; `has_load`: it has its own load.
    fn check_step(
        &self,
        step: &Step,
        data: &DataShape,
        (entry, has_load): (&Spanned<StepEntry>, bool),
    ) -> Result<(), PlanError> {
        let refuse = |why: String| PlanError::new(why).at(self.source, entry.span(), "here");
        let traffic_spec = self.application.and_then(|loaded| loaded.application.step(&step.name));
        match traffic_spec {
            None => self.catalog.check_step(step, data).map_err(refuse),
            Some(traffic_spec)
                if has_load && matches!(traffic_spec.clients, Some(CallMix::Once(_))) =>
            {
                let why =
                    format!("step {}: it does everything once, so nothing arrives", step.name);
                Err(refuse(why).remedy("leave out its load"))
            }
            Some(_) => Ok(()),
        }
    }

    /// Checks that per-client tables are used by as many clients as filled them.
    fn check_tables(
        &self,
        entries: &[Spanned<StepEntry>],
        steps: &[Step],
        factor: &ClientsFactor,
    ) -> Result<(), PlanError> {
        let Some(loaded) = self.application else { return Ok(()) };
        let tables = &loaded.application.tables;
        let own = tables.iter().find(|table| table.copies == Copies::PerClient);
        let Some(table) = own else { return Ok(()) };
        if factor.is_adaptive {
            let why = format!("tables `{}` are each client's own", table.name);
            return Err(PlanError::new(format!("{why}: their number cannot change within a run"))
                .at(self.source, factor.place.clone(), "requested here")
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
        match entries.iter().zip(steps).find(differs) {
            None => Ok(()),
            Some((entry, step)) => Err(PlanError::new(format!(
                "{} and {} have different numbers of clients, and tables `{}` are each client's \
                own",
                first.name, step.name, table.name
            ))
            .at(self.source, entry.span(), "here")
            .remedy("leave out the step's `clients`: all follow the factor `clients`")),
        }
    }

    /// Checks that the benchmark's load and client search apply to some step.
    fn check_reach(
        &self,
        benchmark: &BenchmarkTable,
        (entries, steps): (&[Spanned<StepEntry>], &[Step]),
        factor: &ClientsFactor,
    ) -> Result<(), PlanError> {
        if factor.is_adaptive && !steps.iter().any(|step| step.load == Load::FindClients) {
            return Err(PlanError::new("no step can try numbers of clients")
                .at(self.source, factor.place.clone(), "requested here")
                .remedy("add a step that ends by duration and has no `clients` of its own"));
        }
        let Some(load) = benchmark.load.as_ref() else { return Ok(()) };
        let mut takers = entries.iter().zip(steps).filter(|(entry, step)| {
            let has_own = matches!(entry.get_ref(), WordOr::Table(table) if table.load.is_some());
            !has_own && is_timed(step)
        });
        let is_closed = matches!(load.get_ref(), WordOr::Word(word) if word == "closed");
        if takers.next().is_some() || is_closed {
            return Ok(());
        }
        Err(PlanError::new("no step takes the benchmark's load")
            .at(self.source, load.span(), "requested here")
            .remedy(
                "it is for steps that end by duration and have no `load` of their own, such as \
                 readwhilewriting; fills and maintenance stay a closed loop",
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
