//! `assay export-job`: an experiment as a job for those who submit it themselves.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use archive::Results;
use fleet::job::{self, Pod};
use miette::{Result, miette};
use model::units::parse_size;
use model::{Bytes, ShellCommand};

use super::bench::{Bench, Limits, take_data};
use super::consent::Origin;
use super::fleet::{FleetRun, check, prepare};
use super::fleet_options::{FleetArgs, SLURM, check_class};
use super::optional;
use super::run::{begin, drive_health, planned};
use super::run_options::{ExperimentArgs, Verb};
use crate::catalog::Program;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::{Process, Ui};

/// Directory of the data in a pod, where the user names none.
const POD_DATA: &str = "/var/tmp";

/// Arguments of `assay export-job`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay export-job slurm quickstart --constraint bench >job && sbatch job
  assay export-job kubernetes quickstart --image I --claim results --pod-cpus 8 --pod-memory 32GiB

The experiment begins here, with the builds that all machines use. All machines need the directory
of the results. Complete blocks enter the archive as they end. A job that runs again repeats none of
them.")]
pub(crate) struct Args {
    #[command(subcommand)]
    scheduler: Scheduler,
}

/// Schedulers.
#[derive(Debug, clap::Subcommand)]
enum Scheduler {
    /// Print a batch script for `sbatch`: a job array with one element for each block
    #[command(after_help = "After the job, assay run --resume EXPERIMENT prints the result, \
                            and runs incomplete blocks again.")]
    Slurm(Box<JobArgs>),
    /// Print an indexed Job for `kubectl`, as JSON
    #[command(after_help = "The claim is mounted where the directory of the results is here: \
                            it must be the same volume.")]
    Kubernetes(Box<PodArgs>),
}

/// Arguments of every job.
#[derive(Debug, clap::Args)]
struct JobArgs {
    #[command(flatten)]
    experiment_args: ExperimentArgs,
    /// Run only on machines of this class: a constraint of Slurm, LABEL=VALUE of Kubernetes
    #[arg(long, value_name = "CLASS")]
    constraint: Option<String>,
    /// Largest number of machines at the same time [default: one for each block]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    machines: Option<u32>,
    #[command(flatten)]
    limits: Limits,
}

/// Arguments of a job of Kubernetes.
#[derive(Debug, clap::Args)]
struct PodArgs {
    #[command(flatten)]
    job_args: JobArgs,
    /// Image of the container, with a shell and the libraries of the engines
    #[arg(long)]
    image: String,
    /// Claim of the volume with the directory of the results
    #[arg(long, value_name = "NAME")]
    claim: String,
    /// CPUs of each pod: all CPUs of a node
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pod_cpus: u32,
    /// Memory of each pod
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pod_memory: Bytes,
    /// Size of the volume for the data of each pod
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "100GiB")]
    pod_data: Bytes,
}

/// Creates the experiment, and prints its job.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    crate::phase::enter("for the experiment to be checked");
    let process = Process { environment, ui };
    let text = match &args.scheduler {
        Scheduler::Slurm(args) => with_experiment(args, Some(SLURM), process, &|run| {
            Ok(job::slurm(&run.job(args.constraint.as_deref())?))
        }),
        Scheduler::Kubernetes(args) => {
            args.check(environment)?;
            with_experiment(&args.job_args, None, process, &|run| {
                let job = run.job(args.job_args.constraint.as_deref())?;
                Ok(job::kubernetes(&job, &args.pod(environment)?))
            })
        }
    }?;
    ui.rendered(&text);
    Ok(ExitCode::SUCCESS)
}

/// Creates an experiment with the directory of its blocks; returns the text of its job.
///
/// `on` are the machines on which `assay run --resume` completes the experiment.
fn with_experiment(
    args: &JobArgs,
    on: Option<&str>,
    process: Process<'_>,
    text: &dyn Fn(&FleetRun<'_>) -> Result<String>,
) -> Result<String> {
    check_class(args.constraint.as_deref())?;
    let Process { environment, ui } = process;
    let results = Results::at(&environment.results);
    let (catalog, machine) = (Program::of(environment), environment.machine());
    let own = |command: ShellCommand| args.limits.carried(command);
    let verb = Verb { name: "assay export-job", own: &own, obtain: optional::OBTAIN };
    let checked = args.experiment_args.check(&catalog, machine, verb, process)?;
    let (planned, environment) = planned(&checked, args.limits.disk_floor, &results, process)?;
    check(&planned.plan.experiment)?;
    let process = Process { environment: &environment, ui };
    let data = take_data(&environment, ui)?;
    let health = || drive_health(&environment);
    let mut bench = Bench::open(&data, &args.limits, &environment, &health)?;
    let (dir, manifest) = begin(&results, checked, planned.plan, &mut bench, process)?;
    let options = FleetArgs {
        on: on.map(str::to_owned),
        constraint: args.constraint.clone(),
        machines: args.machines,
        ..FleetArgs::default()
    };
    let run = FleetRun {
        options: &options,
        dir: &dir,
        manifest: &manifest,
        limits: &args.limits,
        origin: Origin::Own,
        data_dir: environment.is_data_dir_named.then_some(environment.data_dir.as_path()),
        interrupt: &bench.engines.interrupt,
        passwords: BTreeMap::new(),
        process,
    };
    prepare(&run)?;
    let text = text(&run);
    bench.close();
    text
}

impl PodArgs {
    /// Refuses what Kubernetes would refuse after the builds are obtained.
    fn check(&self, environment: &Environment) -> Result<()> {
        let class = self.job_args.constraint.as_deref();
        if let Some(class) = class.filter(|class| !class.contains('=')) {
            return Err(miette!(
                help = "write a label of the nodes and its value: --constraint class=nvme",
                "--constraint {class} names no label of Kubernetes"
            ));
        }
        self.pod(environment).map(drop)
    }

    fn pod(&self, environment: &Environment) -> Result<Pod> {
        let named = environment.is_data_dir_named.then_some(environment.data_dir.as_path());
        Ok(Pod {
            image: self.image.clone(),
            results_claim: self.claim.clone(),
            results_dir: mount(&environment.results, "--results")?,
            data_dir: mount(named.unwrap_or(Path::new(POD_DATA)), "--data-dir")?,
            data_size: self.pod_data,
            cpus: self.pod_cpus,
            memory: self.pod_memory,
        })
    }
}

/// Returns the whole path of a directory at which a volume can be mounted.
fn mount(dir: &Path, option: &str) -> Result<String> {
    let path = std::path::absolute(dir).into_report()?;
    // Source: Kubernetes, API reference, Pod v1, "mountPath".
    let text = path.to_str().filter(|text| !text.contains(':')).map(str::to_owned);
    text.ok_or_else(|| {
        miette!(
            help = format!("name another directory with {option}"),
            "no volume of Kubernetes can be mounted at {}: the path has a colon, or is not UTF-8",
            path.display()
        )
    })
}
