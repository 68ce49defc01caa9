//! `assay plan --budget`: what machine time buys, from the noise that is known.

use analysis::budget::{Budget, Design, Origin, Proposal, StepNoise, noise};
use archive::{ExperimentDir, Results};
use miette::{Result, miette};
use model::units::{clients, parse_share, parse_span};
use model::{Experiment, Host, Load, Manifest, Nanos, RunRecord, StopRule, Unit};
use render::figure::figure;

use super::judged::earlier;
use super::plan::nearest_dir;
use super::steady::Window;
use super::until::within;
use crate::catalog::Program;
use crate::environment::Environment;
use crate::told::Told as _;

/// What machine time is to buy.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What machine time buys")]
pub(crate) struct Spend {
    /// Propose repetitions for so much machine time, such as 6h
    #[arg(long, group = "spend", value_name = "SPAN", value_parser = parse_span)]
    budget: Option<Nanos>,
    /// Propose repetitions for 95 % intervals of this half-width, such as 2%
    #[arg(long, group = "spend", value_name = "PERCENT", value_parser = parse_share)]
    half_width: Option<f64>,
    /// Experiment whose runs tell of the noise: name, identifier or directory [default: the newest
    /// of this name, if it was run on this machine]
    #[arg(long, value_name = "EXPERIMENT", requires = "spend")]
    pilot: Option<String>,
}

/// Runs that tell of the noise.
#[derive(Default)]
struct Pilot {
    /// Identifier of the experiment; none when there is none.
    id: Option<String>,
    is_elsewhere: bool,
    /// Whether its runs do the work of those that are planned.
    is_alike: bool,
    /// As they were made: what they cost.
    runs: Vec<RunRecord>,
    /// From where on all are steady: how they vary.
    steady: Vec<RunRecord>,
}

impl Spend {
    /// Returns the proposal in lines; `None` when none is asked for.
    pub(crate) fn lines(
        &self,
        experiment: &Experiment,
        environment: &Environment,
    ) -> Result<Option<Vec<String>>> {
        if self.budget.is_none() && self.half_width.is_none() {
            return Ok(None);
        }
        let results = Results::at(&environment.results);
        let host = sampler::host_facts(nearest_dir(environment));
        let pilot = self.find(experiment, &results, &host)?;
        let noise_history = earlier(&results, &[&host], &pilot.runs);
        let noise = noise(experiment, &pilot.steady, &noise_history);
        if noise.is_empty() {
            return Err(miette!(
                help = "name a step that has operations, such as readrandom",
                "no step of this experiment is measured"
            ));
        }
        let budget = budget(experiment, &noise, &pilot);
        let mut lines = known(&noise, &pilot);
        lines.push(overhead(&budget, &pilot));
        match (self.budget, self.half_width) {
            (Some(time), _) => {
                let proposal = budget.propose(time).map_err(|short| {
                    miette!(
                        help = format!(
                            "give it {} at least, or take variants, levels or steps out",
                            short.least
                        ),
                        "{time} of machine time do not pay for three repetitions"
                    )
                })?;
                lines.extend(proposed(&budget, &proposal.best));
                lines.extend(beside(&proposal));
                lines.extend(words(&proposal.best));
            }
            (None, Some(half_width)) => {
                let design = budget.reach(half_width).ok_or_else(|| {
                    miette!(
                        help = "ask for less, or make the runs steadier: a longer warm-up, a \
                                quieter machine",
                        "a thousand repetitions do not make every interval as narrow as {}",
                        within(half_width)
                    )
                })?;
                lines.extend(proposed(&budget, &design));
                lines.extend(words(&design));
            }
            (None, None) => {}
        }
        Ok(Some(lines))
    }

    /// Finds the runs that tell of the noise: those named, or the newest of the same name.
    fn find(&self, experiment: &Experiment, results: &Results, host: &Host) -> Result<Pilot> {
        let dir = match &self.pilot {
            Some(name) => results.find(name).told()?,
            None => match results.find(&experiment.name) {
                Ok(dir) => dir,
                Err(_nothing_of_that_name) => return Ok(Pilot::default()),
            },
        };
        let manifest = dir.manifest().told()?;
        let is_elsewhere = manifest.host.fingerprint != host.fingerprint;
        if is_elsewhere && self.pilot.is_none() {
            return Ok(Pilot::default());
        }
        read(&dir, &manifest, is_elsewhere, experiment)
    }
}

fn read(
    dir: &ExperimentDir,
    manifest: &Manifest,
    is_elsewhere: bool,
    experiment: &Experiment,
) -> Result<Pilot> {
    let before = &manifest.plan.experiment;
    let names = |experiment: &Experiment| -> Vec<String> {
        experiment.steps.iter().map(|step| step.name.clone()).collect()
    };
    let is_alike = before.data == experiment.data && names(before) == names(experiment);
    let id = Some(format!("{}/{}", before.name, manifest.id));
    let (runs, steady) = (dir.runs(manifest).told()?, Window::default().runs(dir, manifest)?);
    Ok(Pilot { id, is_elsewhere, is_alike, runs, steady })
}

/// Returns what a repetition costs, and its steps that have a length.
fn budget<'a>(experiment: &Experiment, noise: &'a [StepNoise], pilot: &Pilot) -> Budget<'a> {
    let timed = experiment.steps.iter().filter_map(|step| match (step.stop, &step.load) {
        (StopRule::Duration(span), Load::Closed | Load::Pipelined(_) | Load::Open(_)) => {
            Some(span.0)
        }
        (StopRule::Duration(_), Load::FindRate(_) | Load::FindClients)
        | (StopRule::Operations(_), _) => None,
    });
    let measured = Nanos(timed.sum());
    let mut overhead = Nanos(0);
    for clients in &experiment.clients {
        for variant in &experiment.variants {
            let estimated = plan::run_time(experiment, (variant, *clients), &Program);
            let estimated = estimated.since(measured);
            let before = pilot.overhead(&variant.name, *clients);
            overhead = overhead.after(before.unwrap_or(estimated));
        }
    }
    let runs = experiment.variants.len() * experiment.clients.len();
    Budget { noise, runs: u32::try_from(runs).unwrap_or(u32::MAX), overhead, measured }
}

impl Pilot {
    /// Returns what a run cost besides its timed steps: those of the variant and level, or all.
    fn overhead(&self, variant: &str, clients: u32) -> Option<Nanos> {
        let complete = || self.runs.iter().filter(|run| self.is_alike && run.end.is_complete());
        let own: Vec<&RunRecord> = complete()
            .filter(|run| run.cell.variant == variant && run.cell.clients == clients)
            .collect();
        let runs = if own.is_empty() { complete().collect() } else { own };
        let taken: Vec<u64> = runs.into_iter().filter_map(besides).collect();
        let count = u64::try_from(taken.len()).ok().filter(|count| *count > 0)?;
        Some(Nanos(taken.iter().sum::<u64>() / count))
    }
}

/// Returns what a run took besides the measured spans of its timed steps, in nanoseconds.
fn besides(run: &RunRecord) -> Option<u64> {
    let is_timed = |step: &&model::StepRecord| {
        matches!(step.step.stop, StopRule::Duration(_))
            && matches!(step.step.load, Load::Closed | Load::Pipelined(_) | Load::Open(_))
    };
    let measured = run.steps.iter().filter(is_timed).map(|step| step.duration_ns.0).sum();
    Some(runner::wall_time(run)?.since(Nanos(measured)).0)
}

/// Returns what is known of the noise, a line for each step and level: the noisiest comparison.
fn known(noise: &[StepNoise], pilot: &Pilot) -> Vec<String> {
    let cov = |variance: f64| figure(Unit::Share, variance.sqrt());
    let row = |one: &&StepNoise| {
        let seconds = one.within.map_or(String::new(), |within| {
            format!(", and {} over one second, less over more", cov(within))
        });
        let origin = match (one.origin, &pilot.id) {
            (Origin::Pilot { runs }, Some(id)) => format!("{runs} runs each of {id}"),
            (Origin::Pilot { runs }, None) => format!("{runs} runs each"),
            (Origin::NoiseHistory { experiments: 1 }, _) => {
                "one earlier experiment on this machine".to_owned()
            }
            (Origin::NoiseHistory { experiments }, _) => {
                format!("{experiments} earlier experiments on this machine")
            }
            (Origin::Assumed, _) => "assumed: no history".to_owned(),
        };
        vec![
            format!("noise     {}", place(one)),
            one.variant.clone(),
            format!("{} from run to run{seconds}", cov(one.between)),
            format!("({origin})"),
        ]
    };
    let mut lines = columns(&noisiest(noise).iter().map(row).collect::<Vec<_>>());
    if pilot.is_elsewhere {
        lines.push("noise     the pilot was run on another machine".to_owned());
    }
    if noise.iter().any(|one| one.origin == Origin::Assumed) {
        lines.push(
            "noise     a pilot tells: run it with --repetitions 5, then ask again".to_owned(),
        );
    }
    lines
}

/// Returns the noisiest comparison of each step and level, in their order.
fn noisiest(noise: &[StepNoise]) -> Vec<&StepNoise> {
    let mut worst: Vec<&StepNoise> = Vec::new();
    let place = |one: &StepNoise| (one.clients, one.index);
    for one in noise {
        match worst.iter_mut().find(|kept| place(kept) == place(one)) {
            Some(kept) if kept.variance() < one.variance() => *kept = one,
            Some(_) => {}
            None => worst.push(one),
        }
    }
    worst
}

/// Returns a step with its level of clients.
fn place(one: &StepNoise) -> String {
    format!("{} with {}", one.step, clients(one.clients))
}

/// Returns what a run costs before and after what is measured.
fn overhead(budget: &Budget<'_>, pilot: &Pilot) -> String {
    let run = Nanos(budget.overhead.0 / u64::from(budget.runs.max(1)));
    let known = if pilot.overhead("", 0).is_some() { "as in the pilot" } else { "estimated" };
    format!("overhead  {run} a run besides its timed steps ({known})")
}

/// Returns a design and what to expect of it, the widest interval of each step and level.
fn proposed(budget: &Budget<'_>, design: &Design) -> Vec<String> {
    let widest = design.worst().map_or(0.0, |worst| worst.half_width);
    let mut lines = vec![format!(
        "propose   {} repetitions, {}: every ratio to the base within {} or so",
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
        rows.push(vec![
            format!("expect    {}", place(one)),
            within(widest.half_width),
            format!("a difference of {} is seen 4 times in 5", percent(widest.detectable)),
            one.length.map_or(String::new(), |length| format!("measured for {length}")),
        ]);
    }
    lines.extend(columns(&rows));
    lines
}

/// Returns other ways to spend the same time, and how far the best depends on the noise.
fn beside(proposal: &Proposal) -> Vec<String> {
    let row = |design: &Design| {
        let best = if design.repetitions == proposal.best.repetitions { "  (best)" } else { "" };
        let widest = design.worst().map_or(0.0, |worst| worst.half_width);
        vec![
            format!("or        {} repetitions", design.repetitions),
            format!("{}, {}{best}", within(widest), design.cost),
        ]
    };
    let mut lines = columns(&proposal.alternatives.iter().map(row).collect::<Vec<_>>());
    lines.push(format!(
        "should    the noise from run to run be half as much: {}; twice as much: {}",
        within(proposal.if_half),
        within(proposal.if_double)
    ));
    lines
}

/// Returns the words to write or to type.
fn words(design: &Design) -> [String; 2] {
    let repetitions = design.repetitions;
    [
        format!("write     repetitions = {repetitions} in [factors]"),
        format!("or type   --repetitions {repetitions}"),
    ]
}

fn percent(share: f64) -> String {
    figure(Unit::Share, share)
}

/// Returns rows as lines whose columns stand below each other.
fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let wide = |text: &String| text.chars().count();
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(wide).max();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(at, text)| {
            let room = width(at).unwrap_or(0) - wide(text);
            format!("{text}{}", " ".repeat(room))
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
