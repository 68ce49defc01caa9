//! The steps of a benchmark as a whole: their order, and that what is asked of them is done.

use std::ops::Range;

use model::{DataShape, Load, Step, StepInfo, StepRole};

use crate::clients::ClientsFactor;
use crate::error::PlanError;
use crate::resolve::Words;
use crate::spec::{BenchmarkTable, WordOr};
use crate::step_load::is_timed;

impl Words<'_> {
    /// Checks the steps; returns them with the place of each one's load.
    pub(crate) fn steps(
        &self,
        benchmark: &BenchmarkTable,
        data: &DataShape,
        factor: &ClientsFactor,
    ) -> Result<(Vec<Step>, Vec<Range<usize>>), PlanError> {
        let (mut steps, mut loads) = (Vec::new(), Vec::new());
        for (index, entry) in benchmark.steps.iter().enumerate() {
            let (step, info) = self.step(entry, benchmark, data.rows)?;
            self.check_order(index, &info, entry.span())?;
            let own = match entry.get_ref() {
                WordOr::Word(_) => None,
                WordOr::Table(table) => table.load.as_ref(),
            };
            let shared = benchmark.load.as_ref();
            let asked = self.step_load(&step, own, shared, factor.is_adaptive)?;
            let step = Step { load: asked.load, limit: asked.limit, ..step };
            self.catalog
                .check_step(&step, data)
                .map_err(|why| PlanError::new(why).at(self.source, entry.span(), "here"))?;
            loads.push(match &step.load {
                _ if !asked.place.is_empty() => asked.place,
                Load::Closed => entry.span(),
                Load::FindClients => factor.place.clone(),
                Load::Open(_) | Load::FindRate(_) => 0..0,
            });
            steps.push(step);
        }
        if steps.is_empty() {
            return Err(PlanError::new("the benchmark has no steps")
                .remedy("for instance steps = [\"fillseq\", \"readrandom\"]"));
        }
        self.check_reach(benchmark, &steps, factor)?;
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
            (0, _) => Err(refuse(format!("{} needs rows, but nothing fills them", info.name))
                .remedy("begin with fillseq, fillrandom or filluniquerandom")),
            (_, StepRole::Load) => Err(refuse(format!("{} fills an empty engine", info.name))
                .remedy("put it first, or use overwrite")),
            (_, StepRole::Read | StepRole::Write | StepRole::ReadWrite | StepRole::Maintain) => {
                Ok(())
            }
        }
    }

    /// Checks that what is asked of the steps in general is done in one of them at least.
    fn check_reach(
        &self,
        benchmark: &BenchmarkTable,
        steps: &[Step],
        factor: &ClientsFactor,
    ) -> Result<(), PlanError> {
        if factor.is_adaptive && !steps.iter().any(|step| step.load == Load::FindClients) {
            return Err(PlanError::new("no step can try numbers of clients")
                .at(self.source, factor.place.clone(), "asked for here")
                .remedy("add a step that ends by duration and has no `clients` of its own"));
        }
        let Some(load) = benchmark.load.as_ref() else { return Ok(()) };
        let entries = benchmark.steps.iter().zip(steps);
        let mut takers = entries.filter(|(entry, step)| {
            let has_own = matches!(entry.get_ref(), WordOr::Table(table) if table.load.is_some());
            !has_own && is_timed(step)
        });
        let is_closed = matches!(load.get_ref(), WordOr::Word(word) if word == "closed");
        if takers.next().is_some() || is_closed {
            return Ok(());
        }
        Err(PlanError::new("no step takes the benchmark's load")
            .at(self.source, load.span(), "asked for here")
            .remedy(
                "it is for steps that end by duration and have no `load` of their own, such as \
                 readwhilewriting; fills and maintenance stay a closed loop",
            ))
    }
}
