//! `assay durability`: what a store loses of its acknowledged writes in simulated crashes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::process::ExitCode;

use archive::ExperimentDir;
use durability::{CampaignRequest, Conditions, CutError, calibrate, check_level, run_campaign};
use indicatif::ProgressBar;
use miette::{Report, Result, miette};
use model::{
    Calibrator, CutCampaign, CutFault, CutFileSystem, CutLevel, CutPlan, CutRecord, Durability,
    Experiment, Manifest, Nanos, ShellCommand, Survivors, Variant,
};
use plan::{Overrides, QuickVariants};
use render::{CutReport, Format};
use runner::{Interrupt, Library};

use super::bench::take_data;
use super::format::{ALL, formats};
use super::{requested_build, servers};
use crate::catalog::Program;
use crate::diagnostic::{IntoReport as _, system_remedy};
use crate::environment::Environment;
use crate::phase;
use crate::progress::counted;
use crate::registry;
use crate::signals;
use crate::ui::{Process, Ui};

/// Exit code of a class that is claimed and not had: that of a run that failed a check.
const EXIT_CLAIM: u8 = 4;
/// A step that every engine can do; no run of it is made.
const STEP: &str = "fillrandom";
/// Time of a cut for an estimate: an engine in the process takes a second, a server three.
const SECONDS_PER_CUT: u64 = 2;
/// What the first request to stop does.
const ENDS_CUTS: &str = "What was cut is reported, and processes that Assay started are ended; a \
                         second Ctrl-C ends Assay at once";
/// Key of the setting of the class.
const CLASS: &str = "durability";

/// Arguments of `assay durability`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay durability --engine sqlite --engine lmdb --durability sync
  assay durability --engine rocksdb@11.8.1 --durability os --cuts 20
  assay durability --engine postgres@15.10 --durability none --option synchronous_commit=off
  assay durability --engine lmdb --durability sync --level file --survivors half
  assay durability --engine fjall --durability sync --level file --fault fsync
  assay durability --engine sqlite --durability os --level file --seed 7 --cut 12    one cut again
  assay durability --engine fjall --durability sync --format json

A client writes, overwrites and deletes rows. At a random moment the store is stopped: at level
process it is killed, at level file its file system also forgets what was not synced, as in a power
failure, at level block a disk below ext4, XFS or btrfs loses what was not flushed. Then the store
is opened again, and every acknowledged write is compared. Stores that are known to lose writes, or
none, are cut first. No throughput comes from this.

Exit code: 0 if every class is had that is claimed, 4 if one is not, 1 on an error.")]
pub(crate) struct Args {
    /// Engine to cut, NAME or NAME@VERSION; repeat for more
    #[arg(long = "engine", value_name = "BUILD", required = true)]
    engines: Vec<String>,
    /// Engine option, under the engine's own name, for all engines; repeat for more
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Durability class that the engines claim: none, os (survives a process crash) or sync
    #[arg(long = "durability", default_value = "sync", value_name = "CLASS")]
    class: Durability,
    /// Where the crash happens: process, file or block; repeat for more [default: process, file]
    #[arg(long = "level", value_name = "LEVEL")]
    levels: Vec<CutLevel>,
    /// Cuts of each engine at each level; 100 without a loss bound it below 3 %
    #[arg(long, default_value_t = 100, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(CutPlan::CUTS_MAX)))]
    cuts: u32,
    /// What survives of unsynced changes: nothing, half or everything
    #[arg(long, default_value = "nothing", value_name = "WHAT")]
    survivors: Survivors,
    /// Lose the name of a new file until its directory is synced, as POSIX allows
    #[arg(long)]
    strict: bool,
    /// What fails before a cut of level file: fsync (one fails, and its pages are never written)
    #[arg(long, value_name = "FAULT")]
    fault: Option<CutFault>,
    /// File system on the disk that level block cuts: ext4, ext4-nobarrier, xfs or btrfs
    #[arg(long, default_value = "ext4", value_name = "NAME")]
    file_system: CutFileSystem,
    /// Clients that write at once
    #[arg(long, default_value_t = 1, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(CutPlan::CLIENTS_MAX)))]
    clients: u32,
    /// Seed of loads and moments
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Make this cut alone, without calibration
    #[arg(long, value_name = "NUMBER", conflicts_with = "cuts")]
    #[arg(value_parser = clap::value_parser!(u32).range(..i64::from(CutPlan::CUTS_MAX)))]
    cut: Option<u32>,
    /// Output format
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = formats(ALL))]
    format: Format,
}

impl Args {
    fn plan(&self) -> Result<CutPlan> {
        let mut levels = self.levels.clone();
        if levels.is_empty() {
            levels = vec![CutLevel::Process, CutLevel::File];
        }
        levels.sort_unstable();
        levels.dedup();
        let plan = CutPlan {
            cuts: self.cuts,
            levels,
            survivors: self.survivors,
            is_strict: self.strict,
            fault: self.fault,
            file_system: self.file_system,
            clients: self.clients,
        };
        match plan.unused() {
            Some((key, level)) => Err(miette!(
                help = format!("add --level {level}, or leave the option out"),
                "--{} has no effect at the levels given",
                key.replace('_', "-")
            )),
            None => Ok(plan),
        }
    }

    /// Returns the engines as the variants of an experiment that is never run.
    fn experiment(&self, environment: &Environment) -> Result<Experiment> {
        let class = plan::flags().find(|setting| setting.key == CLASS);
        let class = class.map(|setting| (setting, self.class.to_string()));
        let overrides = Overrides { settings: class.into_iter().collect(), ..Overrides::default() };
        let variants = QuickVariants {
            engines: self.engines.clone(),
            profile: None,
            options: self.options.clone(),
        };
        let catalog = Program::of(environment);
        let steps = [STEP.to_owned()];
        let checked = plan::quick(&steps, &variants, &overrides, &catalog, environment.machine())?;
        Ok(checked.experiment)
    }
}

/// Cuts the engines and prints what they lost.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    phase::enter("for the engines to be checked");
    let plan = args.plan()?;
    check_levels(&plan)?;
    let experiment = args.experiment(environment)?;
    let numbers = args.cut.map_or(0..plan.cuts, |cut| cut..cut.saturating_add(1));
    let cutting =
        Cutting { plan: &plan, seed: args.seed, numbers, is_calibrated: args.cut.is_none() };
    let mut campaigns = Vec::new();
    let outcome = cutting.cut(&experiment, Process { environment, ui }, &mut campaigns);
    if outcome.is_ok() || !campaigns.is_empty() {
        let variants = &experiment.variants;
        ui.report(&CutReport { campaigns: &campaigns, variants }, args.format);
    }
    outcome?;
    let is_broken = campaigns.iter().any(CutCampaign::breaks_claim);
    Ok(if is_broken { ExitCode::from(EXIT_CLAIM) } else { ExitCode::SUCCESS })
}

/// Makes the cuts of an experiment that are not stored yet, and stores them, if it `may_cut`.
pub(super) fn cut_experiment(
    dir: &ExperimentDir,
    manifest: &Manifest,
    may_cut: bool,
    process: Process<'_>,
) -> Result<()> {
    let experiment = &manifest.plan.experiment;
    let Some(plan) = experiment.cuts.as_ref().filter(|_| may_cut) else { return Ok(()) };
    let mut stored = dir.cuts().into_report()?;
    let is_whole = |campaign: &CutCampaign| campaign.cuts.len() == plan.cuts as usize;
    stored.retain(is_whole);
    for &level in &plan.levels {
        let is_stored =
            |name: &str| stored.iter().any(|it| it.variant == name && it.kind.level == level);
        let mut rest = experiment.clone();
        rest.variants.retain(|variant| !is_stored(&variant.name));
        if rest.variants.is_empty() {
            continue;
        }
        let plan = CutPlan { levels: vec![level], ..plan.clone() };
        let (seed, numbers) = (experiment.seed, 0..plan.cuts);
        let cutting = Cutting { plan: &plan, seed, numbers, is_calibrated: true };
        let outcome = cutting.cut(&rest, process, &mut stored);
        dir.write_cuts(stored.clone()).into_report()?;
        if outcome.is_err() {
            let resume = ShellCommand::of("assay run --resume").operands([&experiment.name]);
            process.ui.status(format_args!("`{resume}` makes the missing cuts"));
        }
        outcome?;
    }
    Ok(())
}

/// Describes the cuts of an experiment, which follow its runs; `None` without any.
pub(super) fn line(experiment: &Experiment) -> Option<String> {
    let plan = experiment.cuts.as_ref()?;
    let levels: Vec<_> = plan.levels.iter().map(|level| level.imitates()).collect();
    let all = u64::from(plan.cuts) * (plan.levels.len() * experiment.variants.len()) as u64;
    Some(format!(
        "cuts      after the runs, {} of each variant: {}; about {}",
        plan.cuts,
        levels.join(", "),
        Nanos::from_secs(all * SECONDS_PER_CUT)
    ))
}

/// Checks that the cuts of an experiment can be made here, before anything else is done.
pub(super) fn check(experiment: &Experiment) -> Result<()> {
    experiment.cuts.as_ref().map_or(Ok(()), check_levels)
}

fn check_levels(plan: &CutPlan) -> Result<()> {
    let kinds = plan.levels.iter().map(|level| plan.kind(*level));
    kinds.into_iter().try_for_each(|kind| check_level(kind).into_report())
}

/// The cuts to make of each variant.
pub(super) struct Cutting<'a> {
    pub(super) plan: &'a CutPlan,
    pub(super) seed: u64,
    pub(super) numbers: Range<u32>,
    /// Whether known stores are cut first.
    pub(super) is_calibrated: bool,
}

impl Cutting<'_> {
    /// Cuts every variant at every level, and adds the campaigns.
    ///
    /// What was cut before an engine failed or a request to stop is added, too. The other engines
    /// are cut after one has failed.
    pub(super) fn cut(
        &self,
        experiment: &Experiment,
        process: Process<'_>,
        campaigns: &mut Vec<CutCampaign>,
    ) -> Result<()> {
        let Process { environment, ui } = process;
        let libraries = libraries(&experiment.variants, process)?;
        let environment = servers::with_open_data(environment, experiment, ui);
        let data = take_data(&environment, ui)?;
        phase::leave();
        let interrupt = Interrupt::default();
        let _deferred = signals::defer(interrupt.clone(), ENDS_CUTS);
        let program = std::env::current_exe().into_report()?;
        let mut outcome = Ok(());
        for &level in &self.plan.levels {
            // Another process may cut in the same data directory.
            let dir = data.fresh(&format!("cuts-{level}-{}", std::process::id())).into_report()?;
            let conditions = Conditions {
                program: &program,
                dir: &dir.path,
                server_user: environment.server_user.as_deref(),
                is_cancelled: &|| interrupt.level() > 0,
            };
            let run =
                |request: &CampaignRequest<'_>, campaign: &mut CutCampaign, bar: &ProgressBar| {
                    let mut on_cut = |_: &CutRecord| {
                        bar.inc(1);
                        true
                    };
                    let outcome = run_campaign(request, &conditions, campaign, &mut on_cut);
                    outcome.map_err(|error| failed(request.variant, level, &error))
                };
            if self.is_calibrated && Some(&level) == self.plan.levels.first() {
                // An engine that does not work is found before the calibration.
                let first = self.numbers.start;
                for variant in &experiment.variants {
                    let request = self.request(variant, &libraries, level, first..first + 1);
                    run(&request, &mut request.begun(), &ProgressBar::hidden())?;
                }
            }
            let calibrators = self.calibrated(level, &conditions, ui)?;
            for variant in &experiment.variants {
                if interrupt.level() > 0 {
                    return Err(interrupted());
                }
                let bar = self.bar(variant, level, ui);
                let request = self.request(variant, &libraries, level, self.numbers.clone());
                let calibrators = calibrators.clone();
                let mut campaign = CutCampaign { calibrators, ..request.begun() };
                outcome = outcome.and(run(&request, &mut campaign, &bar));
                bar.finish_and_clear();
                campaigns.extend(Some(campaign).filter(|it| !it.cuts.is_empty()));
            }
        }
        match interrupt.level() {
            0 => outcome,
            _ => Err(interrupted()),
        }
    }

    fn request<'a>(
        &self,
        variant: &'a Variant,
        libraries: &'a BTreeMap<String, Library>,
        level: CutLevel,
        numbers: Range<u32>,
    ) -> CampaignRequest<'a> {
        CampaignRequest {
            variant,
            library: libraries.get(&variant.name),
            kind: self.plan.kind(level),
            clients: self.plan.clients,
            seed: self.seed,
            numbers,
        }
    }

    fn calibrated(
        &self,
        level: CutLevel,
        conditions: &Conditions<'_>,
        ui: &Ui,
    ) -> Result<Vec<Calibrator>> {
        if !self.is_calibrated || (conditions.is_cancelled)() {
            return Ok(Vec::new());
        }
        ui.status(format_args!(
            "calibrates {} with stores that are known to lose writes, or none",
            level.imitates()
        ));
        calibrate(level, self.seed, conditions).into_report()
    }

    fn bar(&self, variant: &Variant, level: CutLevel, ui: &Ui) -> ProgressBar {
        let bar = counted(ui, self.numbers.len() as u64, "{msg}  {bar:30} {pos}/{len}  {eta} left");
        bar.set_message(format!("{}: {}", variant.name, level.imitates()));
        bar
    }
}

fn interrupted() -> Report {
    miette!("interrupted: only what was cut until then is reported")
}

/// Returns the error of an engine that failed without a cut.
fn failed(variant: &Variant, level: CutLevel, error: &CutError) -> Report {
    let text = format!("{}, {}: {error}", variant.name, level.imitates());
    let works = format!("`assay run {STEP} --engine {}` shows whether it works", variant.build);
    miette!(help = system_remedy(&text).map_or(works, str::to_owned), "{text}")
}

/// Returns the build of each variant that is not linked, by variant name.
fn libraries(variants: &[Variant], process: Process<'_>) -> Result<BTreeMap<String, Library>> {
    let mut libraries = BTreeMap::new();
    for variant in variants {
        if variant.dsn.is_some() {
            return Err(miette!(
                help = "name a build that Assay starts, such as --engine postgres@15.10",
                "{}: a running server is not cut, because its data would be lost",
                variant.name
            ));
        }
        if variant.build.version.is_none() && registry::kind(&variant.build.engine).is_some() {
            return Err(miette!(
                help = format!("name a version, such as {}@VERSION", variant.build.engine),
                "{} needs a version",
                variant.build.engine
            ));
        }
        let library = requested_build::library(&variant.build, process.environment, process.ui)?;
        libraries.extend(library.map(|library| (variant.name.clone(), library)));
    }
    Ok(libraries)
}
