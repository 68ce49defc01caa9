//! How an experiment is profiled: as its earlier runs, or by a trial of each build.

use archive::{ExperimentDir, Results, ScratchDir};
use model::{
    Cell, Experiment, Load, LoadSharing, Manifest, Nanos, ProfileTarget, RunRecord, StopRule,
    Unwinder, count,
};
use profiler::{Profiler, ProfilerError};

use super::profiling::Profiling;
use super::workbench::{Progress, Workbench};
use crate::error::RunnerError;

/// Length of a trial of one build with one unwinder.
///
/// Our choice: 200 samples distinguish a share of 95 % from the half that broken stacks leave.
const TRIAL: Nanos = Nanos::from_secs(1);

/// Least share of stacks that reach the root with a usable unwinder.
///
/// Our choice: RocksDB's releases reach 95 to 98 % with frame pointers, builds without them 59 to
/// 69 %.
const ROOTED_MIN: f64 = 0.95;

/// Runs the first cell of an experiment, profiled.
pub(super) type RunFirst<'a> =
    &'a dyn Fn(&Manifest, &ExperimentDir, &Profiling) -> Result<RunRecord, RunnerError>;

/// Returns how the runs of an experiment are profiled; `None` without profiles.
///
/// An experiment that has profiled runs goes on as they did. For any other, the cost of a sample
/// is measured, and each step of each variant runs for a second. Frame pointers are used where they
/// reach the root in every build, else unwind tables, whose samples cost more: only profiles of one
/// unwinder are comparable.
///
/// # Errors
/// [`RunnerError::Profiler`] when perf may no longer sample, and the errors of a run.
pub(super) fn profiling(
    bench: &Workbench<'_>,
    manifest: &Manifest,
    dir: &ExperimentDir,
    run: RunFirst<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Option<Profiling>, RunnerError> {
    if !manifest.plan.experiment.is_profiled {
        return Ok(None);
    }
    if let Some(profiling) = Profiling::of_runs(&dir.runs(manifest)?)? {
        return Ok(Some(profiling));
    }
    let trial = Trial { bench, manifest, run };
    let chosen = trial.choose(progress)?;
    if !bench.interrupt.forbids_runs() {
        progress(Progress::Note(&choice(&chosen, bench)));
    }
    Ok(Some(chosen))
}

/// Measures the cost of a sample for an experiment that begins; `None` without profiles.
///
/// # Errors
/// [`RunnerError::Profiler`] when perf may not sample, and [`RunnerError::Interrupted`].
pub fn measure_profiler(
    bench: &Workbench<'_>,
    experiment: &Experiment,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Option<Profiler>, RunnerError> {
    if !experiment.is_profiled {
        return Ok(None);
    }
    let profiler = measure(Unwinder::FramePointers, progress);
    if bench.interrupt.level() > 0 {
        return Err(RunnerError::Interrupted);
    }
    Ok(Some(profiler?))
}

fn measure(
    unwinder: Unwinder,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Profiler, ProfilerError> {
    progress(Progress::Begins("for the cost of a sample to be measured, 2 s"));
    Profiler::measure(unwinder)
}

/// States how callers are found, in the worker and in servers.
fn choice(profiling: &Profiling, bench: &Workbench<'_>) -> String {
    let phrase = |target| profiling.of(target).unwinder().phrase();
    let (worker, server) = (phrase(ProfileTarget::Worker), phrase(ProfileTarget::Server));
    match worker == server || bench.servers.is_empty() {
        true => format!("profile: callers are found by {worker}"),
        false => {
            format!("profile: callers are found by {worker} in the worker, by {server} in servers")
        }
    }
}

/// Returns the time of the trials of one unwinder: an engine opens within some tenths of a second.
fn trial_span(experiment: &Experiment) -> Nanos {
    let shortened = shortened(experiment);
    let trials = shortened.steps.len() * shortened.variants.len();
    Nanos(TRIAL.0.saturating_mul(u64::from(count(trials))))
}

impl Trial<'_> {
    /// Tries frame pointers in each build, and unwind tables where these do not reach the root.
    fn choose(&self, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Profiling, RunnerError> {
        let of_frames = self.run(Unwinder::FramePointers, progress)?;
        if of_frames.least(None).is_none_or(|share| share >= ROOTED_MIN) {
            return Ok(of_frames.profiling);
        }
        let of_tables = match self.run(Unwinder::Dwarf, progress) {
            Ok(tried) => tried,
            // The profiles by frame pointers can be taken, and state the share that they reach.
            Err(RunnerError::Profiler(error)) => {
                let name = Unwinder::Dwarf.phrase();
                progress(Progress::Note(&format!("profile: no trial of {name}: {error}")));
                return Ok(of_frames.profiling);
            }
            Err(error) => return Err(error),
        };
        let is_better = |target| {
            let least = |tried: &Tried| tried.least(Some(target));
            least(&of_frames).is_some_and(|share| share < ROOTED_MIN)
                && least(&of_tables) > least(&of_frames)
        };
        let chosen = |target| match is_better(target) {
            true => of_tables.profiling.of(target).clone(),
            false => of_frames.profiling.of(target).clone(),
        };
        let (worker, server) = (chosen(ProfileTarget::Worker), chosen(ProfileTarget::Server));
        Ok(Profiling { worker, server })
    }
}

/// The trials of an experiment's builds.
struct Trial<'a> {
    bench: &'a Workbench<'a>,
    manifest: &'a Manifest,
    run: RunFirst<'a>,
}

/// What one unwinder reached in each build.
struct Tried {
    profiling: Profiling,
    builds: Vec<TriedBuild>,
}

/// The engine's stacks in the trial of one variant.
struct TriedBuild {
    variant: String,
    /// Where its engine works.
    target: ProfileTarget,
    /// Share of stacks that reach the root, or why it is not known.
    share: Result<f64, String>,
}

impl Trial<'_> {
    /// Measures the cost of a sample, and runs the steps of each variant for a second.
    fn run(
        &self,
        unwinder: Unwinder,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Tried, RunnerError> {
        // The preflight has measured a new experiment's.
        let measured = self.bench.profiler.clone().filter(|one| one.unwinder() == unwinder);
        let profiler = match measured {
            Some(profiler) => profiler,
            None => measure(unwinder, progress)?,
        };
        let (hz, cost, name) = (profiler.hz(), profiler.sample_cost(), unwinder.phrase());
        let stated = format!("profile: {hz} samples per second by {name}; one costs {cost}");
        progress(Progress::Note(&stated));
        let profiling = Profiling::with(profiler);
        let plan = &self.manifest.plan;
        let span = trial_span(&plan.experiment);
        progress(Progress::Begins(&format!(
            "for {name} to be tried with each build, about {span}"
        )));
        let mut builds = Vec::new();
        for variant in &plan.experiment.variants {
            let first = plan.cells.iter().find(|cell| cell.variant == variant.name);
            let Some(cell) = first.filter(|_| !self.bench.interrupt.forbids_runs()) else {
                continue;
            };
            let target = match self.bench.servers.get(&variant.name) {
                Some(_) => ProfileTarget::Server,
                None => ProfileTarget::Worker,
            };
            let record = self.run_one(&profiling, cell)?;
            let share = rooted_share(&record, target);
            builds.push(TriedBuild { variant: variant.name.clone(), target, share });
        }
        let tried = Tried { profiling, builds };
        tried.report(progress);
        Ok(tried)
    }

    /// Runs the steps of a cell, archived in a temporary directory.
    fn run_one(&self, profiling: &Profiling, cell: &Cell) -> Result<RunRecord, RunnerError> {
        let mut manifest = self.manifest.clone();
        let plan = &mut manifest.plan;
        plan.cells = vec![cell.clone()];
        plan.experiment = shortened(&plan.experiment);
        let scratch = ScratchDir::new()?;
        let dir = Results::at(scratch.path()).create(&mut manifest)?;
        (self.run)(&manifest, &dir, profiling)
    }
}

/// Returns an experiment with the steps up to the last one that answers its question, each for the
/// length of a trial and without the search of a load.
fn shortened(experiment: &Experiment) -> Experiment {
    let mut steps = experiment.steps.clone();
    let last = steps.iter().rposition(|step| experiment.answers_question(&step.name));
    steps.truncate(last.map_or(1, |last| last + 1));
    for step in &mut steps {
        (step.stop, step.warmup, step.settle_cap) =
            (StopRule::Duration(TRIAL), Nanos(0), Nanos::SECOND);
        (step.load, step.limit) = (Load::Closed, None);
    }
    let (measure, published) = (Vec::new(), Vec::new());
    let load = LoadSharing::default();
    Experiment { steps, measure, published, load, ..experiment.clone() }
}

/// Returns the share of a target's stacks that reach the root in the last step that has any, or why
/// it is not known.
fn rooted_share(record: &RunRecord, target: ProfileTarget) -> Result<f64, String> {
    let profiles = || record.steps.iter().rev().flat_map(|step| &step.profiles);
    let of_target = || profiles().filter(|profile| profile.target == target);
    let Some(last) = of_target().next() else { return Err(record.end.phrase()) };
    let lacking = || last.refusal.clone().unwrap_or_else(|| "it has no samples".to_owned());
    of_target().find_map(|profile| profile.rooted_share).ok_or_else(lacking)
}

impl Tried {
    /// Returns the least share among the builds of a target, or of all, that are known.
    fn least(&self, target: Option<ProfileTarget>) -> Option<f64> {
        let of = self.builds.iter().filter(|build| target.is_none_or(|it| build.target == it));
        of.filter_map(|build| build.share.as_ref().ok().copied()).reduce(f64::min)
    }

    /// Reports the share of each build.
    fn report(&self, progress: &mut dyn FnMut(Progress<'_>)) {
        for TriedBuild { variant, share, .. } in &self.builds {
            let unwinder = self.profiling.worker.unwinder().phrase();
            progress(Progress::Note(&match share {
                Ok(share) => format!(
                    "profile: {unwinder} reach the root of {:.0} % of the stacks of {variant}",
                    100.0 * share
                ),
                Err(reason) => format!("profile: no trial of {unwinder} with {variant}: {reason}"),
            }));
        }
    }
}
