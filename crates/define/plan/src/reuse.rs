//! Which runs of an experiment begin from one loaded database.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Bytes, Cell, Experiment, LoadReuse, LoadSharing, Nanos, PageCache, Step, StepRole, Variant,
};
use reader::error::{Errors, PlanError};

use crate::catalog::Catalog;
use crate::cost::Cost;
use crate::layout::cells;
use crate::resolve::Resolver;
use crate::settings::{DSN, NAME, PAGE_CACHE, REUSE, RUNS_PER_LOAD};
use crate::spec::{File, Section};

/// Estimated time of a load from which runs that only read share it, unless the file decides.
///
/// Our choice: below it, a separate load for every run costs little.
const LONG_LOAD: Nanos = Nanos::from_secs(10);

impl Resolver<'_> {
    /// Returns how runs share loads, as requested or as usual.
    ///
    /// # Errors
    /// When a variant's server is not Assay's, whose files cannot be saved; errors of its parts.
    pub(crate) fn load_sharing(
        &self,
        file: &File,
        experiment: &Experiment,
    ) -> Result<LoadSharing, PlanError> {
        let mut errors = Errors::default();
        let requested = errors.or_default(self.load_reuse(file));
        let runs_per_load = errors.or_default(self.runs_per_load(&file.factors, requested));
        let page_cache = self.page_cache(&file.benchmark, experiment.memory_bytes);
        let page_cache = errors.or_default(page_cache);
        let reuse = requested.unwrap_or_else(|| self.usual_reuse(experiment));
        errors.result(LoadSharing { reuse, runs_per_load, page_cache })
    }

    fn load_reuse(&self, file: &File) -> Result<Option<LoadReuse>, PlanError> {
        let load = file.benchmark.load.as_deref();
        let Some((load, reuse)) = load.and_then(|load| Some((load, load.value(REUSE)?))) else {
            return Ok(None);
        };
        let foreign = file.variants.iter().find(|variant| variant.get(DSN).is_some());
        if let Some(variant) = foreign.filter(|_| !reuse.is_fresh()) {
            let name = variant.text(NAME);
            let why = format!("variant {name} is a running server: its files cannot be saved");
            let error = PlanError::here(load.place_of(REUSE), why);
            return Err(error.remedy("write load = \"fresh\", or leave the variant out"));
        }
        Ok(Some(reuse))
    }

    /// Returns the state of the page cache when runs that share a load begin to measure.
    ///
    /// # Errors
    /// A warm one with a memory cap: its pages would count against Assay, not against the cap.
    fn page_cache(
        &self,
        benchmark: &Section,
        memory: Option<Bytes>,
    ) -> Result<PageCache, PlanError> {
        let requested = benchmark.value(PAGE_CACHE);
        if memory.is_some() && requested == Some(PageCache::Warm) {
            let why = "a warm page cache would hold the database outside of the memory cap";
            let error = PlanError::here(benchmark.place_of(PAGE_CACHE), why);
            return Err(error.remedy("write page_cache = \"dropped\", or leave out `memory`"));
        }
        let usual = if memory.is_some() { PageCache::Dropped } else { PageCache::Warm };
        Ok(requested.unwrap_or(usual))
    }

    /// Returns how many repetitions share a load, if requested.
    ///
    /// # Errors
    /// When each run or block has a separate load.
    fn runs_per_load(
        &self,
        factors: &Section,
        reuse: Option<LoadReuse>,
    ) -> Result<Option<u32>, PlanError> {
        let runs = factors.value(RUNS_PER_LOAD);
        if runs.is_some() && !matches!(reuse, Some(LoadReuse::PerVariant)) {
            let why = "runs_per_load is only for runs of a variant that share a load";
            let error = PlanError::here(factors.place_of(RUNS_PER_LOAD), why);
            return Err(error.remedy("write load = \"per-variant\" (or --load per-variant) too"));
        }
        Ok(runs)
    }

    /// Returns which runs share a load when the file does not decide.
    ///
    /// All of a variant, if the other steps only read, a load takes long, and it is not measured:
    /// neither the question nor a published finding is about a loading step.
    fn usual_reuse(&self, experiment: &Experiment) -> LoadReuse {
        let loading = experiment.loading_steps();
        let only_reads = experiment.steps[loading..].iter().all(|step| {
            let role = step.role(experiment.application.as_ref());
            matches!(role, StepRole::Read | StepRole::Maintain)
        });
        let is_measured = |step: &Step| {
            let mut findings = experiment.published.iter().flat_map(|one| &one.findings);
            experiment.measure.contains(&step.name) || findings.any(|one| one.is_about(step))
        };
        let is_in_question = experiment.steps[..loading].iter().any(is_measured);
        let is_ours = experiment.variants.iter().all(|variant| variant.dsn.is_none());
        let clients = experiment.clients.iter().copied().max().unwrap_or(1);
        let is_long = |variant: &Variant| {
            Cost::of(variant, self.catalog).load_time(experiment, clients) > LONG_LOAD
        };
        let is_shared = loading > 0
            && only_reads
            && !is_in_question
            && is_ours
            && experiment.variants.iter().any(is_long);
        if is_shared { LoadReuse::PerVariant } else { LoadReuse::Fresh }
    }
}

/// Returns the runs that load, of those in order; each other run restores what one of them saved.
fn loads<'c>(experiment: &Experiment, cells: &'c [Cell], reuse: LoadReuse) -> BTreeSet<&'c str> {
    let loading = experiment.loading_steps();
    let steps = |clients: u32| experiment.steps_for(clients)[..loading].to_vec();
    // The first level with the same loading steps.
    let class = |clients: u32| {
        let own = steps(clients);
        experiment.clients.iter().copied().find(|level| steps(*level) == own)
    };
    let classes: BTreeMap<_, _> =
        experiment.clients.iter().map(|clients| (*clients, class(*clients))).collect();
    let mut made = BTreeSet::new();
    let shared = LoadSharing { reuse, ..experiment.load };
    let shared = Experiment { load: shared, ..experiment.clone() };
    let mut is_new = |cell: &Cell| match shared.load_number(cell.repetition) {
        Some(load) => made.insert((cell.variant.clone(), load, classes.get(&cell.clients))),
        None => true,
    };
    cells.iter().filter(|cell| is_new(cell)).map(|cell| cell.id.as_str()).collect()
}

/// Returns the machine time of runs in order that share loads so.
pub(crate) fn time_of(
    experiment: &Experiment,
    cells: &[Cell],
    costs: &[Cost],
    reuse: LoadReuse,
) -> Nanos {
    let loads = loads(experiment, cells, reuse);
    let time = |cell: &Cell| {
        let position = experiment.variants.iter().position(|known| known.name == cell.variant);
        let cost = costs[position.unwrap_or(0)];
        let whole = cost.time(experiment, cell.clients);
        let saved = match loads.contains(cell.id.as_str()) {
            true => Nanos(0),
            false => cost.load_time(experiment, cell.clients),
        };
        let restored = if saved.0 == 0 { Nanos(0) } else { cost.restore_time(experiment) };
        whole.since(saved).0.saturating_add(restored.0)
    };
    Nanos(cells.iter().map(time).fold(0, u64::saturating_add))
}

/// Returns the estimated machine time of an experiment for each way to share loads.
pub fn times_by_reuse(experiment: &Experiment, catalog: &dyn Catalog) -> [(LoadReuse, Nanos); 3] {
    let costs: Vec<_> =
        experiment.variants.iter().map(|variant| Cost::of(variant, catalog)).collect();
    let cells = cells(experiment);
    LoadReuse::ALL.map(|reuse| (reuse, time_of(experiment, &cells, &costs, reuse)))
}
