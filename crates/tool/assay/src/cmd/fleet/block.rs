//! `assay block`: one block of an experiment on this machine (used by `run --on`).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use archive::{Results, ScratchDir, pack_run};
use fleet::{
    Answer, Claimed, Fleet, HELLO, Order, Outcome, Owner, Request, check_cpus, default_data_dir,
    job_name, machine_name, read_message, send_message, unpack_builds,
};
use miette::{Result, miette};
use model::Machine;
use runner::{Interrupt, Progress};
use rustix::process::{Signal, getpid, kill_process};
use rustix::stdio::dup2_stderr;

use super::super::bench::{Bench, Limits, take_data};
use super::super::refused::{check_host, check_stored};
use super::super::resume::take_builds;
use super::super::run::{drive_health, host_of_run};
use super::super::servers;
use crate::diagnostic::IntoReport as _;
use crate::environment::{Environment, variable_os};
use crate::phase;
use crate::progress::Screen;
use crate::ui::{Process, Ui};

/// Directory of builds of fleets, below the cache.
const BUILDS: &str = "fleet";
/// Time between two signs of life: a submitter waits for several.
const LIFE_EVERY: Duration = Duration::from_secs(10);
/// Time between the end of the connection and the end of this process.
const END_WITHIN: Duration = Duration::from_secs(5);

/// Arguments of `assay block`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory of the blocks
    #[arg(required_unless_present = "stream")]
    fleet: Option<PathBuf>,
    /// The block, from 1
    #[arg(required_unless_present = "stream")]
    block: Option<u32>,
    /// Read the block from stdin, and write its runs to stdout
    #[arg(long, conflicts_with_all = ["fleet", "block"])]
    stream: bool,
}

/// Runs a block.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let process = Process { environment, ui };
    match (&args.fleet, args.block) {
        (Some(dir), Some(block)) => shared(&Fleet::at(dir.clone()), block, process),
        _ => streamed(process),
    }
}

/// Runs a block of a directory that machines share.
fn shared(fleet: &Fleet, block: u32, process: Process<'_>) -> Result<ExitCode> {
    let order = fleet.order().into_report()?;
    check_block(&order, block)?;
    let name = machine_name(&variable_os);
    let task = Task::of(&order, block, name, fleet.builds(), process.environment);
    let owner = Owner {
        machine: task.machine.name.clone(),
        fingerprint: task.machine.host.fingerprint.clone(),
        job: job_name(&variable_os),
        process: std::process::id(),
        started_at: runner::now_utc(),
    };
    let claim = match fleet.claim(block, &owner).into_report()? {
        Claimed::Done => return Ok(ExitCode::SUCCESS),
        Claimed::Owned(claim) => claim,
    };
    dup2_stderr(claim.log().into_report()?).into_report()?;
    let mut send = |cell: &str, dir: &Path| {
        let mut files = packed(dir)?;
        claim.add_run(cell, &mut files).map_err(SendError::of)
    };
    let outcome = task.run(process, &Interrupt::default(), &mut send);
    let is_complete = matches!(outcome, Ok(Outcome::Complete));
    let ended = match outcome {
        Ok(Outcome::Complete) => claim.complete(),
        Ok(outcome) => claim.end(&outcome),
        Err(report) => claim.end(&Outcome::Failed { reason: report.to_string() }),
    };
    ended.into_report()?;
    super::submit::collect_if_free(fleet, &order.manifest, block, process);
    // A scheduler that runs exported jobs repeats a failed one.
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the block that stdin has; its end stops the run.
fn streamed(process: Process<'_>) -> Result<ExitCode> {
    let mut input = BufReader::new(stdin());
    let answer = |answer: &Answer| send_message(&mut stdout().lock(), answer).into_report();
    writeln!(stdout(), "{HELLO}").and_then(|()| stdout().flush()).into_report()?;
    let Some(Request::Run { order, block, machine }) = read_message(&mut input).into_report()?
    else {
        return Err(miette!("the submitter sent no block"));
    };
    check_block(&order, block)?;
    let scratch = ScratchDir::new().into_report()?;
    let builds = scratch.path().join("builds.tar");
    let name = if machine.is_empty() { machine_name(&variable_os) } else { machine };
    let task = Task::of(&order, block, name, builds, process.environment);
    if task.needs_builds() {
        answer(&Answer::NeedsBuilds)?;
        receive_builds(&mut input, &task.builds)?;
    }
    let Machine { name: machine, host } = task.machine.clone();
    let begins = Answer::Begins { machine, fingerprint: host.fingerprint };
    answer(&begins)?;
    let interrupt = Interrupt::default();
    stop_at_end(input, interrupt.clone())?;
    show_life()?;
    let mut send = |cell: &str, dir: &Path| {
        let mut files = packed(dir)?;
        let bytes = files.metadata().map_err(SendError::of)?.len();
        // Locked: a sign of life must not come between the bytes.
        let mut output = stdout().lock();
        send_message(&mut output, &Answer::Run { cell: cell.to_owned(), bytes })
            .and_then(|()| io::copy(&mut files, &mut output))
            .and_then(|_| output.flush())
            .map_err(SendError::of)
    };
    let outcome = task.run(process, &interrupt, &mut send);
    let outcome = outcome.unwrap_or_else(|report| Outcome::Failed { reason: report.to_string() });
    answer(&Answer::Ends(outcome))?;
    Ok(ExitCode::SUCCESS)
}

/// Checks that an experiment has a block.
fn check_block(order: &Order, block: u32) -> Result<()> {
    let blocks = order.blocks();
    match (1..=blocks).contains(&block) {
        true => Ok(()),
        false => Err(miette!("there is no block {block}: the experiment has 1 to {blocks}")),
    }
}

/// Reads the builds that the submitter sends.
fn receive_builds(input: &mut impl BufRead, to: &Path) -> Result<()> {
    let Some(Request::Builds { bytes }) = read_message(input).into_report()? else {
        return Err(miette!("the submitter sent no builds"));
    };
    let mut file = File::create(to).into_report()?;
    let copied = io::copy(&mut input.take(bytes), &mut file).into_report()?;
    if copied == bytes { Ok(()) } else { Err(miette!("the builds break off")) }
}

/// Stops the run when the connection ends.
#[expect(clippy::disallowed_methods, reason = "the process ends next")]
fn stop_at_end(mut input: impl BufRead + Send + 'static, interrupt: Interrupt) -> Result<()> {
    let watch = move || {
        // Nothing else is sent; an error is an end as any other.
        io::copy(&mut input, &mut io::sink()).ok();
        interrupt.raise();
        interrupt.raise();
        thread::sleep(END_WITHIN);
        archive::remove_scratch();
        // The run did not end: its worker and its server end with this process.
        kill_process(getpid(), Signal::KILL).ok();
    };
    thread::Builder::new().name("connection".to_owned()).spawn(watch).map(drop).into_report()
}

/// Sends a sign of life from time to time, for as long as this process runs.
#[expect(clippy::disallowed_methods, reason = "a wake-up every 10 s")]
fn show_life() -> Result<()> {
    let send = || {
        while send_message(&mut stdout().lock(), &Answer::Lives).is_ok() {
            thread::sleep(LIFE_EVERY);
        }
    };
    thread::Builder::new().name("life".to_owned()).spawn(send).map(drop).into_report()
}

/// Packs a run into a file without a name.
fn packed(dir: &Path) -> std::result::Result<File, SendError> {
    let mut file = tempfile::tempfile().map_err(SendError::of)?;
    pack_run(dir, &file).map_err(SendError::of)?;
    file.rewind().map_err(SendError::of)?;
    Ok(file)
}

/// A run that cannot be passed on, with the reason.
struct SendError(String);

impl SendError {
    fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Passes on the files of a run that has ended.
type Sender<'a> = &'a mut dyn FnMut(&str, &Path) -> std::result::Result<(), SendError>;

/// One block, on this machine.
struct Task<'a> {
    order: &'a Order,
    block: u32,
    machine: Machine,
    /// File of the builds.
    builds: PathBuf,
    environment: Environment,
}

impl<'a> Task<'a> {
    fn of(
        order: &'a Order,
        block: u32,
        name: String,
        builds: PathBuf,
        environment: &Environment,
    ) -> Self {
        // Several machines may share the directory: each has a part with its name.
        let data_dir = order.data_dir.clone().unwrap_or_else(default_data_dir).join(&name);
        let cache = order.cache_dir.as_ref().or(environment.cache_dir.as_ref());
        let cache = cache.zip(order.builds.as_ref());
        let environment = Environment {
            data_dir,
            is_data_dir_named: order.data_dir.is_some(),
            cache_dir: cache
                .map(|(cache, sha256)| cache.join(BUILDS).join(sha256))
                .or_else(|| environment.cache_dir.clone()),
            ..environment.clone()
        };
        let host = host_of_run(&environment.nearest_dir(), &environment);
        Self { order, block, machine: Machine { name, host }, builds, environment }
    }

    /// Returns whether the builds are absent in the cache.
    fn needs_builds(&self) -> bool {
        let cache = self.environment.cache_dir.as_ref();
        self.order.builds.is_some() && cache.is_some_and(|cache| !cache.exists())
    }

    /// Runs the cells of the block.
    fn run(
        &self,
        Process { ui, .. }: Process<'_>,
        interrupt: &Interrupt,
        send: Sender<'_>,
    ) -> Result<Outcome> {
        if let Err(reason) = check_cpus(&variable_os) {
            return Ok(Outcome::Refused { reason });
        }
        phase::enter("for the block to be checked");
        if let Some(sha256) = self.order.builds.as_ref().filter(|_| self.needs_builds())
            && let Some(cache) = &self.environment.cache_dir
        {
            let parent = cache.parent().unwrap_or(cache);
            trust::Dir::create(parent, trust::Entries::Closed).into_report()?;
            unpack_builds(&self.builds, sha256, cache).into_report()?;
        }
        // With all cells: runs of several blocks may share a load.
        let mut manifest = self.order.manifest.clone();
        let experiment = manifest.plan.experiment.clone();
        check_stored(&experiment)?;
        let environment = servers::with_open_data(&self.environment, &experiment, ui);
        check_host(&experiment, None, &environment)?;
        let data = take_data(&environment, ui)?;
        let health = || drive_health(&environment);
        let limits = Limits::of(self.order.limits);
        let mut bench = Bench::open(&data, &limits, &environment, &health)?;
        bench.engines.interrupt = interrupt.clone();
        bench.engines.block = Some(self.block);
        manifest.host = host_of_run(data.path(), &environment);
        let name = self.machine.name.clone();
        bench.engines.machine = Some(Machine { name, host: manifest.host.clone() });
        take_builds(&mut bench, &manifest, Process { environment: &environment, ui })?;
        bench.measure_profiler(&experiment, ui).into_report()?;
        let scratch = ScratchDir::new().into_report()?;
        let dir = Results::at(scratch.path()).create(&mut manifest).into_report()?;
        let (mut screen, mut failure) = (Screen::new(ui, &manifest), None);
        let measured = runner::run_cells(&bench.engines, &manifest, &dir, &mut |event| {
            screen.show(&event);
            if let Progress::RunEnds(run) = event
                && failure.is_none()
                && let Err(error) = send(&run.cell.id, &dir.run_dir(&run.cell.id))
            {
                failure = Some(error);
                bench.engines.interrupt.raise();
            }
        });
        screen.close();
        if let Some(SendError(reason)) = failure {
            return Err(miette!("{reason}"));
        }
        measured.into_report()?;
        let is_stopped = bench.engines.interrupt.forbids_runs();
        Ok(if is_stopped { Outcome::Stopped } else { Outcome::Complete })
    }
}
