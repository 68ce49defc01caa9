//! The list of commands.

use std::process::ExitCode;

use clap::{CommandFactory, Subcommand};
use miette::Result;

use super::{
    compare, completions, engine, explain, history, lint, list, micro, plan, report, run, show,
    smoke_test, worker, workload,
};
use crate::environment::Environment;
use crate::ui::Ui;

/// The commands, in order of a typical workflow.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the runs of an experiment in their order, with machine time and disk; run nothing
    Plan(Box<plan::Args>),
    /// Run an experiment file, or steps against given engines
    Run(Box<run::Args>),
    /// List experiments and their runs
    List(list::Args),
    /// Show one run, or every run of an experiment, step by step
    Show(show::Args),
    /// Compare the variants of an experiment with its base case
    Compare(compare::Args),
    /// Explain the difference between two variants: where the time goes, what moved, what binds
    Explain(explain::Args),
    /// Check a plan, a run or a comparison for mistakes
    Lint(lint::Args),
    /// Find changes over many experiments, or in an imported file
    History(Box<history::Args>),
    /// Write the HTML report of an experiment, or a Markdown post with pictures
    Report(report::Args),
    /// Measure checksums and compression of single blocks
    Micro(micro::Args),
    /// List workloads, or show the application of SQL servers
    Workload(workload::Args),
    /// List, get, add, build, remove or show engine builds
    Engine(engine::Args),
    /// Print the completions of a shell
    Completions(completions::Args),
    /// Execute one run from stdin (used by `run`)
    #[command(hide = true)]
    Worker,
    /// Test a library in the working directory (used by `engine`)
    #[command(hide = true)]
    SmokeTest(smoke_test::Args),
}

/// Runs a command of the command line `Cli`.
pub(crate) fn dispatch<Cli: CommandFactory>(
    verb: Verb,
    environment: &Environment,
    ui: &Ui,
) -> Result<ExitCode> {
    match verb {
        Verb::Plan(args) => plan::run(&args, environment, ui),
        Verb::Run(args) => run::run(&args, environment, ui),
        Verb::List(args) => list::run(&args, environment, ui),
        Verb::Show(args) => show::run(&args, environment, ui),
        Verb::Compare(args) => compare::run(&args, environment, ui),
        Verb::Explain(args) => explain::run(&args, environment, ui),
        Verb::Lint(args) => lint::run(&args, environment, ui),
        Verb::History(args) => history::run(&args, environment, ui),
        Verb::Report(args) => report::run(&args, environment, ui),
        Verb::Micro(args) => micro::run(&args, environment, ui),
        Verb::Workload(args) => workload::run(&args, ui),
        Verb::Engine(args) => engine::run(&args, environment, ui),
        Verb::Completions(args) => completions::run::<Cli>(&args),
        Verb::Worker => worker::run(environment, ui),
        Verb::SmokeTest(args) => smoke_test::run(&args),
    }
}
