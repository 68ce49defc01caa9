//! `assay run`: runs an experiment.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use archive::{ExperimentDir, Results};
use miette::{Result, miette};
use model::limits::joined_name;
use model::record::SCHEMA;
use model::{Bytes, DriveHealth, Host, Identity, Label, Manifest, Plan, RunRecord, ShellCommand};
use plan::Checked;
use render::{Meta, complete_runs, next_steps, render_answer};
use runner::DataRoot;

use super::analyzed::{MeasuredRuns, analyze};
use super::bench::{Bench, HEADING, Limits, check_floor, take_data};
use super::compare::exit_code;
use super::consent::{self, Origin, Trust};
use super::fleet::{self, FleetRun};
use super::fleet_options::FleetArgs;
use super::plan::CheckedPlan;
use super::refused::{by_host, check_host, check_stored, check_text, rejection};
use super::resume::{self, Stored};
use super::run_options::{ExperimentArgs, Verb, rates};
use super::second_engine;
use super::steady::Window;
use super::until::{self, PilotRun, Until};
use super::{
    durability, optional, plan as planning, report as page, requested_build, servers, storage,
};
use crate::catalog::Program;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::phase;
use crate::progress::Screen;
use crate::signals::Deferred;
use crate::ui::{Process, Ui};

/// Arguments of `assay run`.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!("Examples:
  assay run quickstart --report
  assay run readrandom --engine rocksdb@9.10.0 --engine rocksdb@11.8.1 --rows 1M --duration 10s
  assay run fillseq readwhilewriting --engine lmdb --rows 200k --clients 1,2 --repetitions 3
  assay run readwhilewriting --engine rocksdb@9.10.0 --rows 1M --rate 50k/s
  assay run readwhilewriting --engine rocksdb@9.10.0 --rows 1M --sla 'p99.9 < 2ms'
  assay run readrandom --engine rocksdb@9.10.0 --rows 1M --clients sweep --repetitions 3
  assay run quickstart --until 2% --budget 2h
  assay run quickstart --on slurm --machines 4  each block on one of several machines
  assay run --resume quickstart                 completes an interrupted experiment
  assay run --resume quick-readrandom --repetitions 3       adds runs to one run of each cell

If this account did not begin the experiment on this host, --resume prints what the experiment can
reach beyond its data, and needs --trust or a yes on the terminal. assay rerun does the same.

Exit code: 0 if all runs are complete, 1 on an error or with incomplete runs, 3 if the experiment
measured or decided nothing, 4 if a run failed a check.", rates!()))]
pub(crate) struct Args {
    #[command(flatten)]
    experiment_args: ExperimentArgs,
    /// Complete an experiment: name (its newest), identifier or directory
    #[arg(long, value_name = "EXPERIMENT", conflicts_with = "inputs", help_heading = HEADING)]
    resume: Option<String>,
    /// Write the HTML report when done
    #[arg(long, help_heading = HEADING)]
    report: bool,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    until: Until,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    fleet: FleetArgs,
}

impl Args {
    /// Adds the options given that no plan takes to a command.
    fn carried(&self, command: ShellCommand) -> ShellCommand {
        let command = self.until.carried(self.limits.carried(command));
        if self.report { command.flag("--report") } else { command }
    }

    /// Returns whether other machines run the blocks.
    fn is_elsewhere(&self, results: &Results) -> bool {
        let is_stored = |name: String| fleet::is_elsewhere(results, &name);
        self.fleet.on.is_some() || self.resumed().is_some_and(is_stored)
    }

    /// Returns the experiment to complete: one of a file's sizes has its name at the end.
    fn resumed(&self) -> Option<String> {
        let name = self.resume.as_ref()?;
        let size = self.experiment_args.size();
        Some(size.map_or_else(|| name.clone(), |size| joined_name(name, size)))
    }
}

/// Runs the experiment and prints the result.
///
/// An error before the first run reports that nothing was run.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    phase::enter("for the experiment to be checked");
    let mut has_begun = false;
    match execute(args, environment, ui, &mut has_begun) {
        Err(report) if !has_begun => {
            ui.error(&report);
            ui.status("  nothing was run");
            Ok(ExitCode::FAILURE)
        }
        outcome => outcome,
    }
}

fn execute(
    args: &Args,
    environment: &Environment,
    ui: &Ui,
    has_begun: &mut bool,
) -> Result<ExitCode> {
    let results = Results::at(&environment.results);
    // On other machines the directory is theirs.
    let named = environment.is_data_dir_named.then(|| environment.data_dir.clone());
    let own = args.is_elsewhere(&results).then(|| environment.with_default_data_dir());
    let environment = own.as_ref().unwrap_or(environment);
    // First: a typing error must not leave directories behind.
    let (prepared, environment) = prepare(args, &results, environment, ui)?;
    let environment = &environment;
    let (origin, fleet) = (prepared.origin(), prepared.fleet(args)?);
    let data = take_data(environment, ui)?;
    let health = || drive_health(environment);
    let mut bench = Bench::open(&data, &args.limits, environment, &health)?;
    bench.engines.confinement = origin.confinement(environment, ui).into_report()?;
    let (dir, manifest) = match prepared {
        Prepared::Fresh(fresh) => {
            let (checked, plan) = *fresh;
            begin(&results, checked, plan, &mut bench, Process { environment, ui })?
        }
        Prepared::Stored(stored) if fleet.is_some() => {
            bench.defer_stops();
            stored.attach(Process { environment, ui })?
        }
        Prepared::Stored(stored) => {
            resume::resume(*stored, &mut bench, Process { environment, ui })?
        }
    };
    *has_begun = true;
    print_head(&manifest, fleet.as_ref(), ui);
    let mut outcome = match &fleet {
        None => measure(&mut bench, &manifest, &dir, ui),
        Some(options) => {
            if options.survives_submitter() {
                bench.defer_detachment();
            }
            let (limits, interrupt) = (&args.limits, &bench.engines.interrupt);
            let (dir, manifest, process) = (&dir, &manifest, Process { environment, ui });
            fleet::measure_on(&FleetRun {
                options,
                dir,
                manifest,
                limits,
                origin,
                data_dir: named.as_deref(),
                interrupt,
                passwords: fleet::passwords(&manifest.plan.experiment)?,
                process,
            })
        }
    };
    let mut planned = manifest;
    if outcome.is_ok() && !bench.engines.interrupt.forbids_runs() {
        let pilot = PilotRun { dir: &dir, manifest: &planned, origin };
        match args.until.extend(pilot, args.limits.disk_floor, Process { environment, ui }) {
            Ok(Some(extended)) => {
                // Complete runs stay, and failed ones are not repeated.
                let rest = until::rest(&extended, &planned);
                outcome = outcome.and_then(|it| Ok(it + measure(&mut bench, &rest, &dir, ui)?));
                planned = extended;
            }
            Ok(None) => {}
            // The pilot's own result is printed first.
            Err(error) => outcome = Err(error),
        }
    }
    let may_cut = outcome.is_ok() && !bench.engines.interrupt.forbids_runs();
    close(bench.close(), data);
    let cut = durability::cut_experiment(&dir, &planned, may_cut, Process { environment, ui });
    let code = print_result(args, fleet.as_ref(), &dir, &planned, ui);
    // What stopped the runs comes first: it may have stopped the output of the result, too.
    match cut.and(outcome)? {
        complete if complete == planned.plan.cells.len() => code,
        _ if code.as_ref().is_ok_and(|code| *code == Label::EXIT_FAILED_CHECK.into()) => code,
        _ => Ok(ExitCode::FAILURE),
    }
}

/// Frees the data directory, then lets a request to stop end the process again.
fn close(deferred: Option<Deferred>, data: DataRoot) {
    drop((data, deferred));
}

/// Prints what an experiment is about, and where it runs.
fn print_head(manifest: &Manifest, fleet: Option<&FleetArgs>, ui: &Ui) {
    let meta = Meta::of(manifest);
    if let Some(waived) = planning::waived(&manifest.plan.experiment) {
        ui.status(waived);
    }
    let on = fleet.and_then(|options| options.on.as_ref());
    let place = match &manifest.plan.experiment.hosts {
        Some(hosts) => hosts.phrase(),
        None => on.map_or(meta.host, |on| format!("each block on one machine of {on}")),
    };
    ui.status(format_args!("{}\n{place}\n{}\n", meta.question, meta.durability));
}

/// An experiment to run: a new one, or the rest of a stored one.
enum Prepared {
    Fresh(Box<(Checked, Plan)>),
    Stored(Box<Stored>),
}

impl Prepared {
    /// Returns the machines that run its blocks, if they are others.
    fn fleet(&self, args: &Args) -> Result<Option<FleetArgs>> {
        let experiment = match self {
            Self::Fresh(fresh) => &fresh.1.experiment,
            Self::Stored(stored) => &stored.manifest.plan.experiment,
        };
        let options = match self {
            Self::Fresh(_) => fleet::options_of(&args.fleet, experiment, None)?,
            Self::Stored(stored) => stored.fleet(&args.fleet)?,
        };
        if options.is_some() && args.until.is_given() {
            return Err(miette!(
                help = "leave out --until, and name --repetitions: `assay plan --on` prices them",
                "--until extends an experiment of this machine only"
            ));
        }
        durability::check(experiment)?;
        match &experiment.hosts {
            Some(hosts) => fleet::check_reach(hosts)?,
            None if options.is_some() => fleet::check(experiment)?,
            None => {}
        }
        Ok(options)
    }

    /// Returns whose it is.
    fn origin(&self) -> Origin {
        match self {
            Self::Fresh(_) => Origin::Own,
            Self::Stored(stored) => stored.origin,
        }
    }
}

/// Checks and plans a new experiment, or finds a stored one, which a stranger's needs consent for;
/// returns it with the environment for its servers.
fn prepare(
    args: &Args,
    results: &Results,
    environment: &Environment,
    ui: &Ui,
) -> Result<(Prepared, Environment)> {
    check_floor(&environment.nearest_dir(), args.limits.disk_floor)?;
    args.fleet.check()?;
    if let Some(name) = args.resumed() {
        if let Some(flag) = args.experiment_args.changing_flag() {
            return Err(miette!(
                help = "leave the option out: it would change the stored experiment",
                "--resume completes the stored plan: --{flag} does not apply"
            ));
        }
        let mut stored = Stored::find(results, &name, environment)?;
        if let Some(repetitions) = args.experiment_args.repetitions()? {
            stored.lengthen(repetitions, args.limits.disk_floor, environment)?;
        }
        args.until.check_stored(&stored.manifest)?;
        let experiment = &stored.manifest.plan.experiment;
        consent::check(&name, experiment, stored.origin, args.trust, ui)?;
        check_stored(experiment)?;
        let environment = servers::with_open_data(environment, experiment, ui);
        check_host(experiment, None, &environment)?;
        return Ok((Prepared::Stored(Box::new(stored)), environment));
    }
    let (catalog, machine) = (Program::of(environment), environment.machine());
    let process = Process { environment, ui };
    let own = |command| args.carried(command);
    let verb = Verb { name: "assay run", own: &own, obtain: optional::OBTAIN };
    let mut checked = args.experiment_args.check(&catalog, machine, verb, process)?;
    args.until.prepare(&mut checked.experiment, ui)?;
    fleet::resolve(&mut checked.experiment)?;
    // On the machine of the server the directory is its own.
    let own = checked.experiment.hosts.as_ref().map(|_| environment.with_default_data_dir());
    let process = Process { environment: own.as_ref().unwrap_or(environment), ui };
    let (planned, environment) = planned(&checked, args.limits.disk_floor, results, process)?;
    Ok((Prepared::Fresh(Box::new((checked, planned.plan))), environment))
}

/// Plans a checked experiment, with the environment for its servers; refuses what this host
/// denies.
pub(super) fn planned(
    checked: &Checked,
    floor: Bytes,
    results: &Results,
    Process { environment, ui }: Process<'_>,
) -> Result<(CheckedPlan, Environment)> {
    check_text(checked, environment)?;
    let environment = servers::with_open_data(environment, &checked.experiment, ui);
    let planned = planning::expand(checked.experiment.clone(), floor, &environment)?;
    planned.check()?;
    let refused = by_host(&planned.plan.experiment, Some(results), &environment);
    if let Some(error) = refused.first() {
        return Err(rejection(checked, error, &environment.nearest_dir()));
    }
    Ok((planned, environment))
}

/// Executes the incomplete runs of a plan; returns the number of complete ones.
pub(super) fn measure(
    bench: &mut Bench<'_>,
    manifest: &Manifest,
    dir: &ExperimentDir,
    ui: &Ui,
) -> Result<usize> {
    if let Some(storage) = &mut bench.storage {
        return storage::run_cells(storage, dir, manifest, &Results::of(dir), ui);
    }
    let mut screen = Screen::new(ui, manifest);
    let outcome =
        runner::run_cells(&bench.engines, manifest, dir, &mut |event| screen.show(&event));
    screen.close();
    outcome.into_report()
}

/// Checks builds and servers, then creates the experiment's directory.
pub(super) fn begin(
    results: &Results,
    checked: Checked,
    plan: Plan,
    bench: &mut Bench<'_>,
    Process { environment, ui }: Process<'_>,
) -> Result<(ExperimentDir, Manifest)> {
    bench.engines.servers = servers::of(&plan.experiment, Process { environment, ui })
        .map_err(|missing| checked.variant_error(&missing.variant, &missing.message))?;
    for variant in &plan.experiment.variants {
        let found = requested_build::library(&variant.build, environment, ui);
        let found =
            found.map_err(|report| checked.variant_error(&variant.name, &report.to_string()))?;
        bench.engines.libraries.extend(found.map(|library| (variant.name.clone(), library)));
    }
    bench.defer_stops();
    let host = host_of_run(bench.engines.data.path(), environment);
    bench.open_storage(&plan.experiment, &host)?;
    let identities = bench.identities(&plan.experiment, ui);
    let identities =
        identities.map_err(|error| rejection(&checked, &error, bench.engines.data.path()))?;
    bench.measure_profiler(&plan.experiment, ui).into_report()?;
    let mut manifest = manifest(plan, host, identities);
    let dir = results.create(&mut manifest).into_report()?;
    Origin::Own.mark(&dir, &manifest, environment, ui);
    Ok((dir, manifest))
}

/// Returns the manifest of an experiment that begins.
pub(super) fn manifest(plan: Plan, host: Host, builds: BTreeMap<String, Identity>) -> Manifest {
    Manifest {
        schema: SCHEMA,
        id: runner::stamp_id(std::process::id()),
        created_at: runner::now_utc(),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        host,
        builds,
        plan,
    }
}

/// Returns what the drive below the data directory reports of its health.
pub(super) fn drive_health(environment: &Environment) -> Option<DriveHealth> {
    doctor::drive_health(&doctor::Source::this_machine(&environment.data_dir))
}

/// Returns the facts of this machine with the snapshot of the doctor, which takes milliseconds.
pub(super) fn host(data: &Path) -> Host {
    let doctor = doctor::snapshot(&doctor::Source::this_machine(data));
    Host { doctor, ..sampler::host_facts(data) }
}

/// Returns the facts of this machine, and where the data of an experiment and its results lie.
pub(super) fn host_of_run(data: &Path, environment: &Environment) -> Host {
    Host { data: environment.data_place(data).map(Box::new), ..host(data) }
}

/// Prints the result, the findings and the next steps; returns the exit code of the label.
fn print_result(
    args: &Args,
    fleet: Option<&FleetArgs>,
    dir: &ExperimentDir,
    manifest: &Manifest,
    ui: &Ui,
) -> Result<ExitCode> {
    let experiment = &manifest.plan.experiment;
    ui.note_stored(&ShellCommand::of("assay compare").operands([&experiment.name]));
    let runs = Window::default().runs(dir, manifest)?;
    let has_failed_check = runs.iter().any(RunRecord::has_failed_check);
    let mut code = exit_code(Label::Nothing, has_failed_check);
    let show = ShellCommand::of("assay show").operands([&experiment.name]);
    let mut next = vec![show.to_string()];
    if runs.iter().any(|run| !run.steps.is_empty()) {
        let measured = MeasuredRuns::of(dir, manifest, &runs)?;
        let analyzed = analyze(measured, &experiment.base, &Results::of(dir))?;
        let meta = Meta::of_runs(manifest, &runs);
        let compared = analyzed.compared(&meta, &runs, &manifest.host);
        ui.rendered(&render_answer(&compared, ui.style()));
        // A pilot is extended on this machine only.
        let is_here = |step: &String| fleet.is_none() || !step.contains(" --until ");
        let steps = next_steps(&compared).into_iter().filter(is_here);
        next = steps.map(|step| args.limits.added_to(step)).collect();
        let label = compared.label();
        // What was not measured is measured first.
        if label != Label::Nothing {
            next.splice(0..0, second_engine::command(manifest));
        }
        code = exit_code(label, has_failed_check);
    }
    let complete = runs.iter().filter(|run| run.end.is_complete()).count();
    if complete < manifest.plan.cells.len() {
        let total = manifest.plan.cells.len();
        ui.print(format_args!("\nRuns     {}", complete_runs(complete, total)));
        let resume = ShellCommand::of("assay run").option("--resume", &manifest.id);
        let resume = args.until.carried(args.limits.carried(resume));
        let resume = fleet.map_or(resume.clone(), |fleet| fleet.carried(resume));
        ui.print(format_args!("Resume   {resume}"));
    }
    let reached = until::reached(manifest, &runs);
    if !reached.is_empty() {
        ui.print(format_args!("\n{}", reached.join("\n")));
    }
    ui.print(format_args!("\nNext     {}", next.join("\n         ")));
    ui.print(format_args!("Stored in {}", dir.path().display()));
    if args.report && !runs.is_empty() {
        ui.print(format_args!(
            "Report   {}",
            page::write_page(dir, None, Window::default(), ui)?.display()
        ));
    }
    Ok(code)
}
