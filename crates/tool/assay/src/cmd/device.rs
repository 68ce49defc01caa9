//! `assay device`: what storage does, measured with fio.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use archive::{Results, write_output};
use miette::{Result, miette};
use model::{Bytes, DeviceRecord, Host, Label, ShellCommand};
use plan::Room;
use render::{DeviceProfile, Format, render_device_page};
use runner::Interrupt;

use super::bench::check_floor;
use super::consent::Origin;
use super::device_options::Measure;
use super::format::{ALL, TextOrJson, formats};
use super::storage::{self, Storage};
use super::storage_steady::{check_limit, until_steady};
use crate::catalog::Program;
use crate::diagnostic::IntoReport as _;
use crate::directory::{check_dir, check_existing_dir};
use crate::environment::Environment;
use crate::phase;
use crate::signals;
use crate::ui::{Process, Ui};

/// Arguments of `assay device`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  assay device --path /data                                a file on /data: O_DIRECT and buffered
  assay device --path /data --raw /dev/sdb --page storage.html
  assay device --path /data --test fdatasync-4k --jobs 1,4,16 --minutes 3
  assay device --path /data --until-steady --write-limit 50GiB
  assay device list
  assay device show                                        the newest profile
  assay device show --format json                          for programs; list too")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    measure: Measure,
    #[command(flatten)]
    output: Output,
}

/// What else can be done with profiles.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the stored profiles
    List {
        #[command(flatten)]
        output: TextOrJson,
    },
    /// Show a stored profile, and how it differs from the previous profile
    Show {
        /// Identifier of the profile; the newest when absent
        profile: Option<String>,
        #[command(flatten)]
        output: Output,
    },
}

/// Where the figures go.
#[derive(Debug, clap::Args)]
struct Output {
    /// Output format
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = formats(ALL))]
    format: Format,
    /// File to write a page with pictures to
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// Measures storage, or lists and shows profiles.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    phase::enter("for the storage");
    let results = Results::at(&environment.results);
    match &args.action {
        Some(Action::List { output }) => {
            ui.report(&stored(&results, ui)[..], output.format);
            Ok(ExitCode::SUCCESS)
        }
        Some(Action::Show { profile, output }) => {
            let records = stored(&results, ui);
            let is_wanted =
                |record: &&DeviceRecord| profile.as_ref().is_none_or(|wanted| record.id == *wanted);
            let Some(record) = records.iter().rev().find(is_wanted) else {
                return Err(miette!(
                    help = format!(
                        "`{}` lists the profiles; `assay device --path DIR` measures a new one",
                        ShellCommand::of("assay device list")
                    ),
                    "no profile{} is stored in {}",
                    profile.as_ref().map_or_else(String::new, |id| format!(" `{id}`")),
                    environment.results.display()
                ));
            };
            print(record, earlier(&records, record), output, ui)
        }
        None => {
            args.measure.check(ui)?;
            if let Some(path) = &args.measure.path {
                check_dir("--path", path)?;
                check_existing_dir("--path", path)?;
                check_floor(path, args.measure.disk_floor)?;
            }
            results.check_writable().into_report()?;
            let interrupt = Interrupt::default();
            // Ctrl-C stops what is measured.
            let deferred = signals::defer(interrupt.clone(), signals::ENDS_RUN);
            let (mut storage, host) = open(&args.measure, interrupt)?;
            let limit = args.measure.steady.write_limit;
            if let Some(Err(error)) = limit.map(|limit| check_limit(&storage, limit)) {
                ui.error(&error);
                return Ok(Label::EXIT_NOTHING.into());
            }
            let record =
                measure(&args.measure, &mut storage, host, &results, Process { environment, ui })?;
            drop(deferred);
            let records = stored(&results, ui);
            let code = print(&record, earlier(&records, &record), &args.output, ui)?;
            let is_without_rate = record.steady.iter().all(|level| level.writes_per_s.is_empty());
            Ok(match record.is_complete {
                true if limit.is_some() && is_without_rate => Label::EXIT_NOTHING.into(),
                true => code,
                false => ExitCode::FAILURE,
            })
        }
    }
}

/// Opens the storage of this host.
fn open(args: &Measure, interrupt: Interrupt) -> Result<(Storage, Host)> {
    let host = super::run::host(args.path.as_deref().unwrap_or(Path::new("/")));
    Ok((Storage::open(args.request(), &host, interrupt)?, host))
}

/// Measures, and returns the profile.
fn measure(
    args: &Measure,
    storage: &mut Storage,
    host: Host,
    results: &Results,
    Process { environment, ui }: Process<'_>,
) -> Result<DeviceRecord> {
    if let Some(limit) = args.steady.write_limit {
        ui.status(format_args!(
            "takes     minutes to hours: writes go on at each fill level until their rate is \
             steady, or \
             {limit} are written"
        ));
        return until_steady(storage, results, host, limit, ui);
    }
    let checked = args.experiment()?;
    let room = Room { free: Bytes(u64::MAX), floor: args.disk_floor };
    let plan = plan::expand(checked.experiment, &Program::default(), room)?;
    ui.status(format_args!(
        "takes     about {} for {} runs, plus the time to write {} of test data",
        plan.estimated_ns,
        plan.cells.len(),
        plan.estimated_disk_bytes
    ));
    storage.make_file(&plan.experiment)?;
    let builds = storage.identities(&plan.experiment);
    let mut manifest = super::run::manifest(plan, host, builds);
    let dir = results.create(&mut manifest).into_report()?;
    Origin::Own.mark(&dir, &manifest, environment, ui);
    storage::run_cells(storage, &dir, &manifest, results, ui)?;
    let (profiles, _) = results.devices();
    let found = profiles.into_iter().find(|profile| profile.id == manifest.id);
    found.ok_or_else(|| miette!("interrupted before anything was measured"))
}

/// Returns the stored profiles; names the files that cannot be read.
fn stored(results: &Results, ui: &Ui) -> Vec<DeviceRecord> {
    let (records, damaged) = results.devices();
    for error in damaged {
        ui.status(error);
    }
    records
}

/// Returns the newest earlier profile of the same storage that is not bogus.
fn earlier<'a>(records: &'a [DeviceRecord], record: &DeviceRecord) -> Option<&'a DeviceRecord> {
    let is_earlier = |other: &&DeviceRecord| {
        let is_bogus = other.targets.iter().any(analysis::is_bogus);
        other.id < record.id && !is_bogus && other.is_same_storage(record)
    };
    records.iter().rev().find(is_earlier)
}

/// Prints a profile, and writes its page.
fn print(
    record: &DeviceRecord,
    earlier: Option<&DeviceRecord>,
    output: &Output,
    ui: &Ui,
) -> Result<ExitCode> {
    ui.report(&DeviceProfile { record, earlier }, output.format);
    if let Some(path) = &output.page {
        write_output(path, render_device_page(record, earlier)).into_report()?;
        ui.status(path.display());
    }
    Ok(ExitCode::SUCCESS)
}
