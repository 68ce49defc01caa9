//! The command line of Assay, one file per command under `cmd/`.
//!
//! To add a command: one file under `cmd/` with its arguments and its `run`, and one line in
//! [`Verb`].

mod catalog;
mod cmd;
mod diagnostic;
mod directory;
mod environment;
mod misplaced;
mod mistyped;
mod phase;
mod progress;
mod registry;
mod signals;
mod ui;

use std::ffi::OsString;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use model::{carry_options, visible};
use nix::sys::signal::{SigSet, SigmaskHow};

use crate::environment::Environment;
use crate::ui::Ui;

/// Measures storage engines and SQL servers on this machine, and tests how far to trust the result
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 100)]
#[command(after_help = "Examples:
  assay run quickstart --report                      compare embedded engines, write the report
  assay run readrandom --engine rocksdb@9.10.0 --engine rocksdb@11.8.1 --rows 1M --duration 10s
  assay compare quickstart                           the newest results of that name
  assay engine get rocksdb@9.10.0                    obtain an engine build")]
struct Cli {
    #[command(flatten)]
    places: environment::Places,
    #[command(subcommand)]
    verb: Verb,
}

/// The commands, in order of a typical workflow.
#[derive(Debug, Subcommand)]
enum Verb {
    /// List settings and load of this machine that can spoil a benchmark, with remedies; change
    /// nothing
    Doctor(cmd::doctor::Args),
    /// Show the runs of an experiment in order, with machine time and disk space; run nothing
    Plan(Box<cmd::plan::Args>),
    /// Run an experiment file, or steps against given engines
    Run(Box<cmd::run::Args>),
    /// List experiments and their runs
    List(cmd::list::Args),
    /// Show one run, or every run of an experiment, step by step
    Show(cmd::show::Args),
    /// Compare the variants of an experiment with its base case
    Compare(cmd::compare::Args),
    /// Explain the difference between two variants: time, changed metrics and limiting resources
    Explain(cmd::explain::Args),
    /// Show in which functions the CPU of a step goes, as a flame graph or for other viewers
    Flame(cmd::flame::Args),
    /// Check a plan, a run or a comparison for mistakes
    Lint(cmd::lint::Args),
    /// Find changes over many experiments, or in an imported file
    History(Box<cmd::history::Args>),
    /// Write the HTML report of an experiment, or a Markdown post with pictures
    Report(cmd::report::Args),
    /// Show the archive, each experiment and runs in progress in a browser
    Serve(cmd::serve::Args),
    /// Write the pages of the archive as files for any web server
    Site(cmd::serve::SiteArgs),
    /// Check stored files against their checksums, and records against their intervals
    Verify(cmd::verify::Args),
    /// Write an experiment to one file that other commands can read
    Export(cmd::export::Args),
    /// Print a job for Slurm or Kubernetes that runs an experiment on several machines
    ExportJob(cmd::export_job::Args),
    /// Add an experiment from one file to the archive
    Import(cmd::import::Args),
    /// Write the archive as Parquet files, or join archives
    Archive(cmd::archive::Args),
    /// Run the experiment of a file here, and test which findings are reproduced
    Rerun(cmd::rerun::Args),
    /// List, show, check or remove the saved databases from which runs begin
    Snapshot(cmd::snapshot::Args),
    /// Measure checksums and compression of single blocks
    Micro(cmd::micro::Args),
    /// Measure storage with fio: throughput and response time by jobs and access
    Device(Box<cmd::device::Args>),
    /// Measure what engines lose of their acknowledged writes in simulated crashes
    Durability(Box<cmd::durability::Args>),
    /// List workloads, or show the application of SQL servers
    Workload(cmd::workload::Args),
    /// List, get, add, build, test, remove or show engine builds
    Engine(cmd::engine::Args),
    /// Print the completions of a shell
    Completions(cmd::completions::Args),
    /// Run one block of an experiment (used by `run --on`)
    #[command(hide = true)]
    Block(cmd::fleet::block::Args),
    /// Execute one run from stdin (used by `run`)
    #[command(hide = true)]
    Worker(cmd::worker::Args),
    /// Make simulated crashes, or open a store for one (used by `durability`)
    #[command(hide = true)]
    Cuts,
    /// Confine this process, then become a program (used by `run`)
    #[command(hide = true)]
    Confined(cmd::confined::Args),
    /// Write the man pages (used to build packages)
    #[command(hide = true)]
    Man(cmd::man::Args),
    /// Test a library in the working directory (used by `engine`)
    #[command(hide = true)]
    SmokeTest(cmd::smoke_test::Args),
}

/// Exit code of a wrong command line. Source: clap, `ErrorKind`, `exit_code`.
const EXIT_USAGE: u8 = 2;
/// Exit code of a panic. Source: Rust's standard library, `lang_start`.
const EXIT_PANIC: u8 = 101;
/// Stack of the thread of a command: Linux's default, which `ulimit -s` lowers for main alone.
const STACK_BYTES: usize = 8 << 20;

/// Runs the command in a thread with enough stack, and takes no signal meanwhile.
fn main() -> ExitCode {
    ui::mask_panics();
    let Ok(mask) = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK) else {
        return run_command();
    };
    let unmasked = move || {
        mask.thread_set_mask().ok();
        run_command()
    };
    match thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn(unmasked) {
        Ok(command) => command.join().unwrap_or(ExitCode::from(EXIT_PANIC)),
        Err(_) => unmasked(),
    }
}

/// Parses the command line and executes the command.
fn run_command() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Err(report) = ui::check_arguments(&args) {
        ui::write_status(ui::clean(&ui::drawn(&report)).trim_end());
        return ExitCode::from(EXIT_USAGE);
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return not_parsed(error, &args),
    };
    let environment = Environment::read(&cli.places);
    trust::begin(environment.trusted.clone());
    let text = |(option, dir): (_, &Path)| (option, dir.display().to_string());
    carry_options(cli.places.named().map(text));
    let ui = Ui::of_process(&environment);
    let is_check = matches!(cli.verb, Verb::Lint(_) | Verb::Doctor(_) | Verb::History(_));
    // Children that load an engine end by the signal, as their parent expects.
    signals::handle(!matches!(cli.verb, Verb::Worker(_) | Verb::Cuts | Verb::SmokeTest(_)));
    let is_child =
        matches!(cli.verb, Verb::Worker(_) | Verb::Confined(_) | Verb::Cuts | Verb::SmokeTest(_));
    let user = environment.server_user.as_deref().filter(|_| !is_child);
    let checked = if is_child { Ok(()) } else { cli.places.check() };
    let checked = environment::check_account(user).and(checked);
    if !is_child {
        phase::begin(ui::write_status);
        phase::enter("for stored files to be read");
    }
    let outcome = checked.and_then(|()| execute(cli.verb, &environment, &ui));
    phase::leave();
    signals::end_if_requested();
    cmd::verify::warn_of_changes(&ui);
    let outcome = outcome.and_then(|code| ui.finish().map(|()| code));
    outcome.unwrap_or_else(|report| {
        ui.error(&report);
        if is_check { ExitCode::from(cmd::lint::EXIT_ERROR) } else { ExitCode::FAILURE }
    })
}

/// Executes a command.
fn execute(verb: Verb, environment: &Environment, ui: &Ui) -> miette::Result<ExitCode> {
    match verb {
        Verb::Doctor(args) => cmd::doctor::run(&args, environment, ui),
        Verb::Plan(args) => cmd::plan::run(&args, environment, ui),
        Verb::Run(args) => cmd::run::run(&args, environment, ui),
        Verb::List(args) => cmd::list::run(&args, environment, ui),
        Verb::Show(args) => cmd::show::run(&args, environment, ui),
        Verb::Compare(args) => cmd::compare::run(&args, environment, ui),
        Verb::Explain(args) => cmd::explain::run(&args, environment, ui),
        Verb::Flame(args) => cmd::flame::run(&args, environment, ui),
        Verb::Lint(args) => cmd::lint::run(&args, environment, ui),
        Verb::History(args) => cmd::history::run(&args, environment, ui),
        Verb::Report(args) => cmd::report::run(&args, environment, ui),
        Verb::Serve(args) => cmd::serve::run(&args, environment, ui),
        Verb::Site(args) => cmd::serve::run_site(&args, environment, ui),
        Verb::Verify(args) => cmd::verify::run(&args, environment, ui),
        Verb::Export(args) => cmd::export::run(&args, environment, ui),
        Verb::ExportJob(args) => cmd::export_job::run(&args, environment, ui),
        Verb::Import(args) => cmd::import::run(&args, environment, ui),
        Verb::Archive(args) => cmd::archive::run(&args, environment, ui),
        Verb::Rerun(args) => cmd::rerun::run(&args, environment, ui),
        Verb::Snapshot(args) => cmd::snapshot::run(&args, environment, ui),
        Verb::Micro(args) => cmd::micro::run(&args, environment, ui),
        Verb::Device(args) => cmd::device::run(&args, environment, ui),
        Verb::Durability(args) => cmd::durability::run(&args, environment, ui),
        Verb::Workload(args) => cmd::workload::run(&args, ui),
        Verb::Engine(args) => cmd::engine::run(&args, environment, ui),
        Verb::Completions(args) => cmd::completions::run(&args, Cli::command(), ui),
        Verb::Man(args) => cmd::man::run(&args, Cli::command()),
        Verb::Block(args) => cmd::fleet::block::run(&args, environment, ui),
        Verb::Worker(args) => cmd::worker::run(&args, environment, ui),
        Verb::Cuts => cmd::cuts::run(),
        Verb::Confined(args) => cmd::confined::run(args),
        Verb::SmokeTest(args) => cmd::smoke_test::run(&args),
    }
}

/// Returns the error of a command line without what a terminal would obey in its arguments.
///
/// The error of one that is not UTF-8 does not name it: there is no other way to learn which.
fn shown(error: clap::Error, args: &[OsString]) -> clap::Error {
    let clean = |arg: &OsString| OsString::from(&*visible(&arg.to_string_lossy()));
    let parsed = |odd: Option<usize>| {
        let arg = |(at, arg)| if odd == Some(at) { OsString::clone(arg) } else { clean(arg) };
        Cli::try_parse_from(args.iter().enumerate().map(arg)).err()
    };
    let is_refused = |at: &usize| {
        let error = args[*at].to_str().is_none().then(|| parsed(Some(*at))).flatten();
        error.is_some_and(|error| error.kind() == ErrorKind::InvalidUtf8)
    };
    if error.kind() == ErrorKind::InvalidUtf8
        && let Some(at) = (0..args.len()).find(is_refused)
    {
        let text = format!("the argument `{}` is not UTF-8", clean(&args[at]).display());
        return Cli::command().error(ErrorKind::InvalidUtf8, text);
    }
    match args.iter().any(|arg| clean(arg) != *arg) {
        true => parsed(None).unwrap_or(error),
        false => error,
    }
}

/// Prints help, or the error of the command line.
fn not_parsed(error: clap::Error, args: &[OsString]) -> ExitCode {
    let error = mistyped::explained(shown(error, args), args, Cli::command());
    let printed = error.print().and_then(|()| stdout().flush());
    match printed.or_else(|error| ui::output_error(&error, None)) {
        Err(report) if !error.use_stderr() => {
            ui::write_status(&report.to_string());
            ExitCode::FAILURE
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(u8::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Returns the arguments of an example, up to its comment or to what takes its output.
    fn arguments(example: &str) -> Vec<String> {
        let (mut args, mut is_quoted, mut spaces) = (vec![String::new()], false, 0);
        for sign in example.trim_start().chars() {
            match sign {
                '\'' => is_quoted = !is_quoted,
                '>' | '|' | '&' if !is_quoted && spaces > 0 => break,
                ' ' if !is_quoted && spaces == 1 => break,
                ' ' if !is_quoted => spaces += 1,
                _ => {
                    if spaces > 0 {
                        args.push(String::new());
                    }
                    spaces = 0;
                    args.last_mut().expect("an argument").push(sign);
                }
            }
        }
        args
    }

    /// Parses the examples of a command and of those below it; returns how many there are.
    fn parse_examples(command: &Command) -> usize {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> = help.lines().filter(|it| it.starts_with("  assay ")).collect();
        for example in &examples {
            let args = arguments(example);
            assert!(Cli::try_parse_from(&args).is_ok(), "{example}: {args:?}");
        }
        examples.len() + command.get_subcommands().map(parse_examples).sum::<usize>()
    }

    #[test]
    fn every_example_of_the_help_is_parsed() {
        let count = parse_examples(&Cli::command());
        assert!(count > 80, "{count} examples");
        let example = "  assay run --sla 'p99 < 2ms' a.toml   adds > runs";
        assert_eq!(arguments(example), ["assay", "run", "--sla", "p99 < 2ms", "a.toml"]);
    }
}
