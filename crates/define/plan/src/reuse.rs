//! Which runs of an experiment begin from one loaded database.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, Experiment, LoadReuse, Nanos, StepRole};
use toml::Spanned;

use crate::catalog::Catalog;
use crate::cost::Cost;
use crate::error::PlanError;
use crate::expand::cells;
use crate::resolve::Resolver;
use crate::settings::{DSN, NAME, REUSE};
use crate::spec::File;

/// Estimated time of a load from which runs that only read share it, unless the file decides.
///
/// Our choice: below it, a load of its own for every run costs little.
const LONG_LOAD: Nanos = Nanos::from_secs(10);

impl Resolver<'_> {
    /// Returns which runs share a load, as requested; `None` when nothing is.
    ///
    /// # Errors
    /// When a variant's server is not Assay's, whose files cannot be saved.
    pub(crate) fn load_reuse(&self, file: &File) -> Result<Option<LoadReuse>, PlanError> {
        let load = file.benchmark.load.as_deref();
        let Some(text) = load.and_then(|load| load.get(REUSE)) else { return Ok(None) };
        let known = LoadReuse::ALL.into_iter().find(|one| one.name() == text.get_ref());
        let Some(reuse) = known else {
            let names = LoadReuse::ALL.map(LoadReuse::name).join(", ");
            let why = format!("`{}` is none of {names}", text.get_ref());
            return Err(self.invalid(REUSE, text, why));
        };
        let foreign = file.variants.iter().find(|variant| variant.get(DSN).is_some());
        if let Some(variant) = foreign.filter(|_| !reuse.is_fresh()) {
            let name = variant.text(NAME);
            let why = format!("variant {name} is a running server: its files cannot be saved");
            let error = PlanError::new(why);
            let error = error.at(self.source, Spanned::span(text), "requested here");
            return Err(error.remedy("write load = \"fresh\", or leave the variant out"));
        }
        Ok(Some(reuse))
    }

    /// Returns which runs share a load when the file does not decide.
    ///
    /// All runs of a variant, if the other steps only read and a load takes long.
    pub(crate) fn usual_reuse(&self, experiment: &Experiment) -> LoadReuse {
        let loading = experiment.loading_steps();
        let only_reads = experiment.steps[loading..].iter().all(|step| {
            let role = step.role(experiment.application.as_ref());
            matches!(role, StepRole::Read | StepRole::Maintain)
        });
        let is_ours = experiment.variants.iter().all(|variant| variant.dsn.is_none());
        if loading == 0 || !only_reads || !is_ours {
            return LoadReuse::Fresh;
        }
        let clients = experiment.clients.iter().copied().max().unwrap_or(1);
        let is_long = experiment.variants.iter().any(|variant| {
            Cost::of(variant, self.catalog).load_time(experiment, clients) > LONG_LOAD
        });
        if is_long { LoadReuse::PerVariant } else { LoadReuse::Fresh }
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
    let mut is_new = |cell: &Cell| {
        let block = if reuse == LoadReuse::PerVariant { 0 } else { cell.repetition };
        made.insert((cell.variant.clone(), block, classes.get(&cell.clients).copied()))
    };
    let is_alone = reuse.is_fresh() || loading == 0;
    cells.iter().filter(|cell| is_alone || is_new(cell)).map(|cell| cell.id.as_str()).collect()
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
pub fn times_by_reuse(
    experiment: &Experiment,
    catalog: &dyn Catalog,
) -> [(LoadReuse, Nanos); 3] {
    let costs: Vec<_> =
        experiment.variants.iter().map(|variant| Cost::of(variant, catalog)).collect();
    let cells = cells(experiment);
    LoadReuse::ALL.map(|reuse| (reuse, time_of(experiment, &cells, &costs, reuse)))
}
