//! `assay run --until`: a pilot, then the repetitions it shows necessary.

use analysis::budget::{Piloted, piloted};
use archive::ExperimentDir;
use miette::{Result, miette};
use model::units::{parse_limit, parse_share};
use model::{Bytes, Experiment, Manifest, Nanos, RunRecord, ShellCommand};

use super::budget::{cov, largest, place, within};
use super::consent::Origin;
use super::resume::longer;
use super::steady::Window;
use crate::diagnostic::IntoReport as _;
use crate::ui::{Process, Ui};

/// Fewest repetitions of a pilot.
///
/// Our choice: [Stein 1945] estimates the variance in a first stage; three runs leave two degrees
/// of freedom.
const PILOT_MIN: u32 = 3;
/// Default limit of repetitions.
///
/// Our choice: beyond it a longer step or a quieter machine helps more than repetitions.
const REPETITIONS_MAX: u32 = 100;

/// An experiment whose pilot has run.
#[derive(Clone, Copy)]
pub(crate) struct PilotRun<'a> {
    pub(crate) dir: &'a ExperimentDir,
    pub(crate) manifest: &'a Manifest,
    pub(crate) origin: Origin,
}

/// Precision of the result.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Precision of the result")]
pub(crate) struct Until {
    /// Half the width of every 95 % interval, such as 2%. A pilot estimates how many repetitions
    /// are needed, and the run then makes them
    #[arg(long, value_name = "PERCENT", value_parser = parse_share)]
    until: Option<f64>,
    /// Machine time that --until may take, including the pilot
    #[arg(long, value_name = "SPAN", requires = "until", value_parser = parse_limit)]
    budget: Option<Nanos>,
    /// Repetitions that --until may run, including the pilot
    #[arg(long, value_name = "N", requires = "until", default_value_t = REPETITIONS_MAX)]
    max_repetitions: u32,
}

impl Until {
    /// Returns whether a precision is requested.
    pub(crate) const fn is_given(&self) -> bool {
        self.until.is_some()
    }

    /// Prepares an experiment for a pilot; rejects one with a single variant.
    pub(crate) fn prepare(&self, experiment: &mut Experiment, ui: &Ui) -> Result<()> {
        if self.until.is_none() {
            return Ok(());
        }
        if experiment.variants.len() < 2 {
            return Err(miette!(
                help = "name a second variant, or add --control to compare the variant with itself",
                "--until needs a difference, but there is only one variant"
            ));
        }
        if experiment.repetitions < PILOT_MIN {
            experiment.repetitions = PILOT_MIN;
            ui.status(format_args!(
                "pilot     {PILOT_MIN} repetitions: fewer repetitions estimate the noise too poorly"
            ));
        }
        Ok(())
    }

    /// Rejects a stored experiment whose runs are no pilot: one that was planned without `--until`.
    pub(crate) fn check_stored(&self, manifest: &Manifest) -> Result<()> {
        let Experiment { name, repetitions, variants, .. } = &manifest.plan.experiment;
        if self.until.is_none() || *repetitions >= PILOT_MIN && variants.len() >= 2 {
            return Ok(());
        }
        Err(miette!(
            help = "run the experiment anew with --until",
            "--until needs a pilot of 2 variants x {PILOT_MIN} repetitions or more, and `{name}` \
             has {} x {repetitions}",
            variants.len()
        ))
    }

    /// Returns a resuming command with the flags that it must repeat.
    pub(crate) fn carried(&self, command: ShellCommand) -> ShellCommand {
        let Some(share) = self.until else { return command };
        // Rounded: a share times 100 is not always the number that was given.
        let mut command = command.option("--until", &format!("{}%", (share * 1e8).round() / 1e6));
        if let Some(budget) = self.budget {
            command = command.option("--budget", &format!("{}s", budget.as_secs_f64()));
        }
        if self.max_repetitions != REPETITIONS_MAX {
            command = command.option("--max-repetitions", &self.max_repetitions.to_string());
        }
        command
    }

    /// Extends a plan after its pilot; `None` when no further run is needed.
    pub(crate) fn extend(
        &self,
        PilotRun { dir, manifest, origin }: PilotRun<'_>,
        floor: Bytes,
        Process { environment, ui }: Process<'_>,
    ) -> Result<Option<Manifest>> {
        let (Some(goal), None) = (self.until, manifest.plan.pilot_repetitions) else {
            return Ok(None);
        };
        let experiment = &manifest.plan.experiment;
        let runs = Window::default().runs(dir, manifest)?;
        let pilot = piloted(experiment, &runs);
        let Some(worst) = pilot.iter().max_by_key(|one| one.repetitions(goal)) else {
            return Err(miette!(
                help = "find out why the runs have no result (assay show), and run the experiment \
                        anew with --until",
                "--until: no step that answers the question has two runs of the base and of \
                 another variant, so the noise is unknown and no run was added"
            ));
        };
        let (made, needed) = (experiment.repetitions, worst.repetitions(goal));
        let (most, why) = self.most(made, &runs);
        let repetitions = needed.min(most).max(made);
        ui.status(format_args!("pilot     {}", noisiest(worst)));
        ui.status(format_args!(
            "pilot     {} in every step needs {needed} repetitions",
            within(goal)
        ));
        if repetitions < needed {
            let expected = within(worst.half_width(repetitions));
            ui.status(format_args!(
                "pilot     {why} limits the repetitions to {repetitions}, where {expected} is \
                 expected"
            ));
        }
        if repetitions == made {
            return Ok(None);
        }
        let mut extended = longer(manifest, repetitions, floor, environment)?;
        extended.plan.pilot_repetitions = Some(made);
        origin.mark(dir, &extended, environment, ui);
        dir.extend(&extended).into_report()?;
        Ok(Some(extended))
    }

    /// Returns the most repetitions allowed, and what limits them.
    fn most(&self, made: u32, runs: &[RunRecord]) -> (u32, &'static str) {
        let taken_ns: u64 = runs.iter().filter_map(runner::wall_time).map(|span| span.0).sum();
        let affordable = self.budget.and_then(|budget| {
            let repetitions = budget.0.saturating_mul(u64::from(made)).checked_div(taken_ns)?;
            Some(u32::try_from(repetitions).unwrap_or(u32::MAX))
        });
        match affordable {
            Some(affordable) if affordable < self.max_repetitions => (affordable, "the budget"),
            Some(_) | None => (self.max_repetitions, "--max-repetitions"),
        }
    }
}

/// Returns the part of an extended manifest that is not run yet.
pub(crate) fn rest(extended: &Manifest, before: &Manifest) -> Manifest {
    let mut rest = extended.clone();
    rest.plan.cells.drain(..before.plan.cells.len());
    rest.plan.estimated_ns = extended.plan.estimated_ns.since(before.plan.estimated_ns);
    rest
}

/// Formats the precision reached after a pilot, one line per step.
pub(crate) fn reached(manifest: &Manifest, runs: &[RunRecord]) -> Vec<String> {
    let Some(pilot) = manifest.plan.pilot_repetitions else { return Vec::new() };
    let experiment = &manifest.plan.experiment;
    let is_pilot = |run: &&RunRecord| run.cell.repetition <= pilot;
    let of_pilot: Vec<RunRecord> = runs.iter().filter(is_pilot).cloned().collect();
    let (before, all) = (piloted(experiment, &of_pilot), piloted(experiment, runs));
    let is_same = |a: &Piloted, b: &Piloted| {
        (a.index, a.clients, &a.variant) == (b.index, b.clients, &b.variant)
    };
    let known = before.iter().filter_map(|one| {
        let runs = all.iter().find(|other| is_same(one, other))?.runs;
        Some((one, runs, one.half_width(runs * one.runs_per_load)))
    });
    let worst =
        largest(known, |(one, ..)| (one.index, one.clients), |(.., half_width)| *half_width);
    let line = |(one, runs, half_width): (&Piloted, u32, f64)| {
        format!(
            "Reached  {} in {} ({}, {runs} {} each; noise from the pilot's {pilot} repetitions)",
            within(half_width),
            place(&one.step, one.clients),
            one.variant,
            drawn(one)
        )
    };
    worst.into_iter().map(line).collect()
}

/// Returns the name of what was drawn at random.
fn drawn(one: &Piloted) -> &'static str {
    if one.runs_per_load > 1 { "loads" } else { "runs" }
}

/// Formats the comparison that needs the most runs.
fn noisiest(one: &Piloted) -> String {
    let cov = cov(one.run_cov());
    let (place, Piloted { variant, metric, runs, .. }) = (place(&one.step, one.clients), one);
    let drawn = drawn(one);
    format!("{place}, {variant}: {cov} of {metric} between {drawn}, from {runs} {drawn} each")
}
