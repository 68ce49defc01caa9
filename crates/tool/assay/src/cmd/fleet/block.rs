//! `assay block`: one block of an experiment on this machine (used by `run --on`).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, Write as _, stdin, stdout};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use archive::{Results, ScratchDir, pack_run};
use fleet::{
    Answer, Claimed, Fleet, HELLO, Order, Outcome, Owner, Request, TimedReader, check_cpus,
    default_data_dir, job_name, machine_name, read_message, send_message, unpack_builds,
};
use miette::{Result, miette};
use model::Machine;
use runner::{ClientHosts, Interrupt, Progress};
use rustix::process::{Signal, getpid, kill_process};
use rustix::stdio::dup2_stderr;

use super::super::bench::{Bench, Limits, take_data};
use super::super::refused::{check_host, check_stored};
use super::super::resume::take_builds;
use super::super::run::{drive_health, host_of_run};
use super::super::servers;
use super::clients::StreamClients;
use crate::diagnostic::IntoReport as _;
use crate::environment::{Environment, variable_os};
use crate::phase;
use crate::progress::Screen;
use crate::ui::{Process, Ui};

/// Directory of builds of fleets, below the cache.
const BUILDS: &str = "fleet";
/// Time between two signs of life: a submitter waits for several.
const LIFE_EVERY: Duration = Duration::from_secs(4);
/// Longest silence of the submitter of a block with client hosts, s: it sends a sign of life every
/// 5 s.
const SILENCE_MAX_S: u64 = 15;
/// Nothing but its end or a silence stops the input of a block.
static NEVER: AtomicBool = AtomicBool::new(false);
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
    super::submit::collect_if_free(fleet, &order.manifest, process);
    // A scheduler that runs exported jobs repeats a failed one.
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the block that stdin has; its end stops the run.
fn streamed(process: Process<'_>) -> Result<ExitCode> {
    let stdin = File::from(stdin().as_fd().try_clone_to_owned().into_report()?);
    let mut input = BufReader::new(TimedReader {
        input: stdin,
        is_stopped: &NEVER,
        silence_max_s: None,
        patience_s: 0,
    });
    let answer = |answer: &Answer| send(answer).into_report();
    let hello = format!("{HELLO}\n{}\n", std::process::id());
    stdout().write_all(hello.as_bytes()).and_then(|()| stdout().flush()).into_report()?;
    let Some(Request::Run { order, block, machine, passwords }) =
        read_message(&mut input).into_report()?
    else {
        return Err(miette!("the submitter sent no block"));
    };
    check_block(&order, block)?;
    let scratch = ScratchDir::new().into_report()?;
    let builds = scratch.path().join("builds.tar");
    let name = if machine.is_empty() { machine_name(&variable_os) } else { machine };
    let mut task = Task::of(&order, block, name, builds, process.environment);
    task.environment.passwords = passwords;
    if order.manifest.plan.experiment.hosts.is_some() {
        let address = order.address.clone().unwrap_or_else(|| task.machine.name.clone());
        task.clients = Some(StreamClients::new(address, send));
    }
    if task.needs_builds() {
        answer(&Answer::NeedsBuilds)?;
        receive_builds(&mut input, &task.builds)?;
    }
    let Machine { name: machine, host } = task.machine.clone();
    let begins = Answer::Begins { machine, fingerprint: host.fingerprint };
    answer(&begins)?;
    let interrupt = Interrupt::default();
    if task.clients.is_some() {
        input.get_mut().silence_max_s = Some(SILENCE_MAX_S);
    }
    listen(input, task.clients.clone(), interrupt.clone())?;
    show_life()?;
    let mut send_run = |cell: &str, dir: &Path| {
        let mut files = packed(dir)?;
        let bytes = files.metadata().map_err(SendError::of)?.len();
        // Locked: a sign of life must not come between the bytes.
        let mut output = stdout().lock();
        send_message(&mut output, &Answer::Run { cell: cell.to_owned(), bytes })
            .and_then(|()| io::copy(&mut files, &mut output))
            .and_then(|_| output.flush())
            .map_err(SendError::of)
    };
    let outcome = task.run(process, &interrupt, &mut send_run);
    let outcome = outcome.unwrap_or_else(|report| Outcome::Failed { reason: report.to_string() });
    answer(&Answer::Ends(outcome))?;
    Ok(ExitCode::SUCCESS)
}

/// Sends a message to the submitter.
fn send(answer: &Answer) -> io::Result<()> {
    send_message(&mut stdout().lock(), answer)
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

/// Passes the lines of client hosts to the runner; stops the run when the connection ends.
#[expect(clippy::disallowed_methods, reason = "the process ends next")]
fn listen(
    mut input: impl BufRead + Send + 'static,
    clients: Option<StreamClients>,
    interrupt: Interrupt,
) -> Result<()> {
    let watch = move || {
        // An error is an end as any other.
        while let Ok(Some(request)) = read_message(&mut input) {
            match (request, &clients) {
                (Request::FromClient { worker, line }, Some(clients)) => {
                    clients.pass(worker, &line);
                }
                (Request::ClientEnded { worker, reason }, Some(clients)) => {
                    clients.end(worker, reason);
                }
                (Request::Lives, _) => {}
                // Nothing else is sent.
                _ => break,
            }
        }
        interrupt.raise();
        if let Some(clients) = &clients {
            clients.end_all();
        }
        interrupt.raise();
        thread::sleep(END_WITHIN);
        archive::remove_scratch();
        // The run did not end: its worker and its server end with this process.
        kill_process(getpid(), Signal::KILL).ok();
    };
    thread::Builder::new().name("connection".to_owned()).spawn(watch).map(drop).into_report()
}

/// Sends a sign of life from time to time, for as long as this process runs.
#[expect(clippy::disallowed_methods, reason = "a wake-up every 4 s")]
fn show_life() -> Result<()> {
    let show = || {
        while send(&Answer::Lives).is_ok() {
            thread::sleep(LIFE_EVERY);
        }
    };
    thread::Builder::new().name("life".to_owned()).spawn(show).map(drop).into_report()
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
    /// Hosts of the clients, if they are others.
    clients: Option<StreamClients>,
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
        let machine = Machine { name, host };
        Self { order, block, machine, builds, environment, clients: None }
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
        bench.engines.clients = self.clients.as_ref().map(|clients| clients as &dyn ClientHosts);
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
