//! `assay plan --budget`: repetitions and lengths for a machine-time budget.

use analysis::budget::{
    Budget, Design, Goal, LoadDesign, LoadNoise, Origin, Proposal, StepNoise, load_design,
    load_noise, machine_deviation, noise,
};
use analysis::effective_hosts;
use archive::{ExperimentDir, Results};
use miette::{Result, miette};
use model::units::{parse_limit, parse_share};
use model::{
    Experiment, Host, Load, Manifest, Nanos, RunRecord, Step, StepClients, StopRule, Unit, times,
};
use render::figure::figure;
use serde_json::Value;
use stats::loads::Components;

use super::analyzed::earlier;
use super::proposal::{Designs, Pilot, SharedLoads, data, overhead_of_run};
use super::steady::Window;
use crate::catalog::Program;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::aligned;

/// Largest coefficient of variation that is printed: one beyond it has no use.
const COV_MAX: f64 = 10.0;

/// Options of the budget proposal.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Machine-time budget")]
pub(crate) struct BudgetArgs {
    /// Propose repetitions for this machine time, such as 6h
    #[arg(long, group = "goal", value_name = "SPAN", value_parser = parse_limit)]
    budget: Option<Nanos>,
    /// Propose repetitions for 95 % intervals of this half-width, such as 2%
    #[arg(long, group = "goal", value_name = "PERCENT", value_parser = parse_share)]
    half_width: Option<f64>,
    /// Experiment whose runs give the noise: name, identifier or directory [default: the newest
    /// experiment of this name, if it was run on this machine]
    #[arg(long, value_name = "EXPERIMENT", requires = "goal")]
    pilot: Option<String>,
}

/// The pilot, and the noise of each measured step.
pub(super) struct Evidence {
    pub(super) pilot: Pilot,
    pub(super) noise: Vec<StepNoise>,
}

/// A proposal in lines, and for programs.
pub(crate) struct Proposed {
    pub(crate) lines: Vec<String>,
    pub(crate) data: Value,
}

impl Designs {
    fn of(budget: &Budget<'_>, goal: Goal) -> Result<Self> {
        match goal {
            Goal::Time(time) => {
                let proposal = budget.propose(time).map_err(|short| {
                    miette!(
                        help = format!(
                            "give at least {}, or remove variants, levels or steps",
                            short.least
                        ),
                        "{time} of machine time is too short for three repetitions"
                    )
                })?;
                Ok(Self { best: proposal.best.clone(), others: Some(proposal) })
            }
            Goal::HalfWidth(half_width) => {
                let best = budget.reach(half_width).map_err(|most| {
                    let narrowest = most.worst().map_or_else(String::new, |worst| {
                        let noise = &budget.noise[worst.noise];
                        let step = place(&noise.step, noise.clients);
                        format!("{step} reaches {}: ", within(worst.half_width))
                    });
                    miette!(
                        help = format!(
                            "{narrowest}give a wider interval, or reduce the noise: a longer \
                             warm-up, a quieter machine"
                        ),
                        "a thousand repetitions do not make every interval as narrow as {}",
                        within(half_width)
                    )
                })?;
                Ok(Self { best, others: None })
            }
        }
    }
}

impl BudgetArgs {
    fn goal(&self) -> Option<Goal> {
        let half_width = self.half_width.map(Goal::HalfWidth);
        self.budget.map(Goal::Time).or(half_width)
    }

    /// Returns the proposal; `None` without a goal.
    pub(crate) fn propose(
        &self,
        experiment: &Experiment,
        environment: &Environment,
    ) -> Result<Option<Proposed>> {
        let Some(goal) = self.goal() else { return Ok(None) };
        let Evidence { pilot, noise } = self.evidence(experiment, environment, false)?;
        if noise.is_empty() {
            return Err(miette!(
                help = "name a step that has operations, such as readrandom",
                "no step of this experiment is measured"
            ));
        }
        let budget = budget(experiment, &noise, &pilot);
        let designs = Designs::of(&budget, goal)?;
        let loads = SharedLoads::of(experiment, &pilot, &budget, goal);
        let mut lines = noise_lines(&noise, &pilot);
        lines.push(overhead(&budget, &pilot));
        lines.extend(design_lines(&budget, &designs.best));
        lines.extend(designs.others.iter().flat_map(alternatives));
        lines.extend(load_lines(loads.as_ref(), experiment));
        let data = data(&budget, &pilot, &designs, loads.as_ref());
        Ok(Some(Proposed { lines, data }))
    }

    /// Returns the pilot and the noise of the steps; a pilot elsewhere counts for a fleet.
    pub(super) fn evidence(
        &self,
        experiment: &Experiment,
        environment: &Environment,
        is_fleet: bool,
    ) -> Result<Evidence> {
        let results = Results::at(&environment.results);
        let host = sampler::host_facts(&environment.nearest_dir());
        let pilot = self.find(experiment, &results, &host)?;
        let is_unfit = pilot.is_elsewhere && self.pilot.is_none() && !is_fleet;
        let pilot = if is_unfit { Pilot::default() } else { pilot };
        let noise_history = earlier(&results, &[&host], &pilot.runs);
        let noise = noise(experiment, &pilot.steady, &noise_history);
        Ok(Evidence { pilot, noise })
    }

    /// Finds the pilot: the named experiment, or the newest of the same name.
    fn find(&self, experiment: &Experiment, results: &Results, host: &Host) -> Result<Pilot> {
        let dir = match &self.pilot {
            Some(name) => misplaced::find(results, name)?,
            None => match results.find(&experiment.name) {
                Ok(dir) => dir,
                Err(_nothing_of_that_name) => return Ok(Pilot::default()),
            },
        };
        let manifest = dir.manifest().into_report()?;
        let pilot = read(&dir, &manifest, experiment)?;
        let own = effective_hosts(&manifest.host, &pilot.runs)[0];
        Ok(Pilot { is_elsewhere: !own.is_same_machine(host), ..pilot })
    }
}

fn read(dir: &ExperimentDir, manifest: &Manifest, experiment: &Experiment) -> Result<Pilot> {
    let before = &manifest.plan.experiment;
    let names = |experiment: &Experiment| -> Vec<String> {
        experiment.steps.iter().map(|step| step.name.clone()).collect()
    };
    let is_alike = before.data == experiment.data && names(before) == names(experiment);
    let id = format!("{}/{}", before.name, manifest.id);
    let (runs, steady) =
        (dir.runs(manifest).into_report()?, Window::default().runs(dir, manifest)?);
    let machines = machine_deviation(before, &steady);
    Ok(Pilot { id, is_elsewhere: false, is_alike, runs, steady, machines })
}

/// Returns the cost of a repetition, and its timed steps.
fn budget<'a>(experiment: &Experiment, noise: &'a [StepNoise], pilot: &Pilot) -> Budget<'a> {
    let measured = Nanos(experiment.steps.iter().filter_map(timed_ns).sum());
    let levels = experiment.clients.iter();
    let cells = levels.flat_map(|clients| experiment.variants.iter().map(move |it| (it, *clients)));
    let catalog = Program::default();
    let estimated =
        cells.clone().map(|(it, clients)| plan::run_time(experiment, it, clients, &catalog));
    let estimated = estimated.map(|time| time.since(measured).0).sum();
    let runs = cells.count() as u64;
    let overhead = pilot.overhead().map_or(estimated, |each| each.0 * runs);
    let runs = u32::try_from(runs).unwrap_or(u32::MAX);
    Budget { noise, runs, overhead: Nanos(overhead), measured }
}

/// Returns the length of a timed step; `None` when it ends by count, and of a search.
fn timed_ns(step: &Step) -> Option<u64> {
    match (step.stop, &step.load) {
        (StopRule::Duration(span), Load::Closed | Load::Pipelined(_) | Load::Open(_)) => {
            Some(span.0)
        }
        (StopRule::Duration(_), Load::FindRate(_) | Load::FindClients)
        | (StopRule::Operations(_), _) => None,
    }
}

impl Pilot {
    /// Returns the machine time of a load, and of a run that restores one; `None` without
    /// both, or when they loaded other rows.
    fn load_costs(&self) -> Option<(Nanos, Nanos)> {
        let mean = |is_loading: bool| {
            let alike = self.runs.iter().filter(|run| self.is_alike && run.end.is_complete());
            let shared = alike.filter(|run| run.load.is_some());
            let of_kind =
                shared.filter(|run| run.steps.iter().any(|it| it.index == 0) == is_loading);
            let times: Vec<u64> =
                of_kind.filter_map(runner::wall_time).map(|time| time.0).collect();
            times.iter().sum::<u64>().checked_div(times.len() as u64).map(Nanos)
        };
        let (loading, restored) = (mean(true)?, mean(false)?);
        Some((loading.since(restored), restored))
    }

    /// Returns the mean overhead of the complete runs, if they do what is planned.
    pub(super) fn overhead(&self) -> Option<Nanos> {
        let complete = self.runs.iter().filter(|run| self.is_alike && run.end.is_complete());
        let taken: Vec<u64> = complete.filter_map(overhead_of).collect();
        Some(Nanos(taken.iter().sum::<u64>().checked_div(taken.len() as u64)?))
    }
}

/// Returns a run's wall time minus its measured spans, in ns.
fn overhead_of(run: &RunRecord) -> Option<u64> {
    let timed = run.steps.iter().filter(|step| timed_ns(&step.step).is_some());
    let measured = timed.map(|step| step.duration_ns.0).sum();
    Some(runner::wall_time(run)?.since(Nanos(measured)).0)
}

/// Formats the noise of the noisiest comparison per step and level.
pub(super) fn noise_lines(noise: &[StepNoise], pilot: &Pilot) -> Vec<String> {
    let row = |one: &&StepNoise| {
        let seconds = one.within.map_or(String::new(), |within| {
            format!(
                ", and {} between the seconds of a run, less between longer spans",
                cov(within.sqrt())
            )
        });
        let origin = match one.origin {
            Origin::Pilot { runs } => format!("{runs} runs each of {}", pilot.id),
            Origin::NoiseHistory { experiments: 1 } => {
                "one earlier experiment on this machine".to_owned()
            }
            Origin::NoiseHistory { experiments } => {
                format!("{experiments} earlier experiments on this machine")
            }
            Origin::OtherSteps { experiments } => {
                format!("other steps on this machine (earlier experiments: {experiments})")
            }
            Origin::Assumed => "assumed: no history".to_owned(),
        };
        [
            format!("noise     {}", place(&one.step, one.clients)),
            one.variant.clone(),
            format!("{} of {} between runs{seconds}", cov(one.between.sqrt()), one.metric),
            format!("({origin})"),
        ]
    };
    let mut lines = aligned(&noisiest(noise).iter().map(row).collect::<Vec<_>>());
    if pilot.is_elsewhere {
        lines.push("noise     the pilot was run on another machine".to_owned());
    }
    if noise.iter().any(|one| one.origin == Origin::Assumed) {
        lines.push(
            "noise     to measure the noise, run a pilot with --repetitions 5, then repeat this \
             command"
                .to_owned(),
        );
    }
    lines
}

/// Returns the noisiest comparison of each step and level, in order.
fn noisiest(noise: &[StepNoise]) -> Vec<&StepNoise> {
    largest(noise, |one| (one.clients.level, one.index), |one| one.variance())
}

/// Returns the largest of each place, in the order of the places.
pub(super) fn largest<T, P: PartialEq>(
    all: impl IntoIterator<Item = T>,
    place: impl Fn(&T) -> P,
    size: impl Fn(&T) -> f64,
) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for one in all {
        match found.iter_mut().find(|known| place(known) == place(&one)) {
            Some(known) if size(known) < size(&one) => *known = one,
            Some(_) => {}
            None => found.push(one),
        }
    }
    found
}

/// Formats a step with its number of clients.
pub(super) fn place(step: &str, clients: StepClients) -> String {
    format!("{step} with {clients}")
}

/// Formats the overhead of a run.
fn overhead(budget: &Budget<'_>, pilot: &Pilot) -> String {
    let run = overhead_of_run(budget);
    let source = if pilot.overhead().is_some() { "as in the pilot" } else { "estimated" };
    format!("overhead  {run} per run outside its timed steps ({source})")
}

/// Formats a design with the widest expected interval per step and level.
fn design_lines(budget: &Budget<'_>, design: &Design) -> Vec<String> {
    let widest = design.worst().map_or(0.0, |worst| worst.half_width);
    let mut lines = vec![format!(
        "propose   --repetitions {}, {}: every ratio to the base within about {}",
        design.repetitions,
        design.cost,
        within(widest)
    )];
    let mut rows = Vec::new();
    for one in noisiest(budget.noise) {
        let own = design.expected.iter().filter(|expected| {
            let noise = &budget.noise[expected.noise];
            (noise.index, noise.clients) == (one.index, one.clients)
        });
        let Some(widest) = own.max_by(|a, b| a.half_width.total_cmp(&b.half_width)) else {
            continue;
        };
        rows.push([
            format!("expect    {}", place(&one.step, one.clients)),
            within(widest.half_width),
            format!(
                "a difference of {} is detected with 80 % power",
                difference(widest.detectable)
            ),
            one.length.map_or(String::new(), |length| format!("measured for {length}")),
        ]);
    }
    lines.extend(aligned(&rows));
    lines
}

impl SharedLoads {
    fn of(experiment: &Experiment, pilot: &Pilot, budget: &Budget<'_>, goal: Goal) -> Option<Self> {
        let noise = load_noise(experiment, &pilot.steady);
        let variance = |one: &LoadNoise| one.components.between + one.components.within;
        let worst = noise.into_iter().max_by(|a, b| variance(a).total_cmp(&variance(b)))?;
        let (load, run) = pilot.load_costs().filter(|_| experiment.loading_steps() > 0)?;
        let design = load_design(&worst.components, load, run, budget.runs, goal);
        Some(Self { worst, load, run, design })
    }
}

/// Formats the numbers of loads and of runs of each load that a goal is reached by.
///
/// Nothing where no run can share a load.
fn load_lines(shared: Option<&SharedLoads>, experiment: &Experiment) -> Vec<String> {
    if experiment.loading_steps() == 0 {
        return Vec::new();
    }
    let Some(SharedLoads { worst, load, run, design }) = shared else {
        // A load that costs little in such a pilot is not worth a line.
        let pilot = Experiment { repetitions: 6, ..experiment.clone() };
        let [fresh, .., shared] = plan::times_by_reuse(&pilot, &Program::default());
        if fresh.1.since(shared.1).0 <= fresh.1.0 / 20 {
            return Vec::new();
        }
        let hint = "loads     a pilot with --load per-variant --runs-per-load 2 --repetitions 6 \
                    shows what shared loads would save";
        return vec![hint.to_owned()];
    };
    let Components { between, within: of_runs, loads, runs } = worst.components;
    let mut lines = vec![format!(
        "loads     {}, {}: {} between loads, {} between runs of one load ({loads} loads, {runs} \
         runs); a load takes {load}, and a run after the load takes {run}",
        place(&worst.step, worst.clients),
        worst.variant,
        cov(between.sqrt()),
        cov(of_runs.sqrt()),
    )];
    lines.push(match design {
        Some(LoadDesign { runs_per_load, loads, cost, half_width }) => format!(
            "or        --load per-variant --runs-per-load {runs_per_load} --repetitions {}: \
             {loads} loads of {runs_per_load} runs each, {cost}: within about {}",
            runs_per_load * loads,
            within(*half_width)
        ),
        None => "loads     shared loads do not reach the goal either".to_owned(),
    });
    lines
}

/// Formats alternative designs, and the sensitivity to the noise.
fn alternatives(proposal: &Proposal) -> Vec<String> {
    let row = |design: &Design| {
        let best = if design.repetitions == proposal.best.repetitions { "  (best)" } else { "" };
        let widest = design.worst().map_or(0.0, |worst| worst.half_width);
        [
            format!("or        {} repetitions", design.repetitions),
            format!("{}, {}{best}", within(widest), design.cost),
        ]
    };
    let mut lines = aligned(&proposal.alternatives.iter().map(row).collect::<Vec<_>>());
    lines.push(format!(
        "if        the noise between runs is half as large: {}; twice as large: {}",
        within(proposal.if_half),
        within(proposal.if_double)
    ));
    lines
}

/// Formats a coefficient of variation.
pub(super) fn cov(share: f64) -> String {
    let limit = if share > COV_MAX { "over " } else { "" };
    format!("{limit}{}", figure(Unit::Share, share.min(COV_MAX)))
}

/// Formats a half-width: plus or minus 2 %, and from a doubling on a factor.
pub(crate) fn within(half_width: f64) -> String {
    match half_width {
        1.0.. => format!("{} either way", times(1.0 + half_width)),
        _ => format!("\u{b1}{}", figure(Unit::Share, half_width)),
    }
}

/// Formats a difference: 2.5 %, and from a doubling on a factor.
fn difference(share: f64) -> String {
    if share < 1.0 { figure(Unit::Share, share) } else { times(1.0 + share) }
}
