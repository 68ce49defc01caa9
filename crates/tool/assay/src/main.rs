//! The command line of Assay, one file per command under `cmd/`.
//!
//! To add a command: one file under `cmd/` with its arguments and its `run`, and one line in
//! [`cmd::Verb`].

mod catalog;
mod cmd;
mod diagnostic;
mod environment;
mod progress;
mod registry;
mod ui;

use std::process::ExitCode;

use clap::Parser;

use crate::environment::Environment;
use crate::ui::Ui;

/// Measures storage engines and SQL servers on this machine, and tests how far to trust the result
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 100)]
#[command(after_help = "Examples:
  assay run experiments/quickstart.toml --report     compare embedded engines, write the report
  assay run readrandom --engine rocksdb@9.10.0 --engine rocksdb@11.8.1 --rows 1M --duration 10s
  assay compare quickstart                           the newest results of that name
  assay engine get rocksdb@9.10.0                    obtain an engine build")]
struct Cli {
    #[command(flatten)]
    places: environment::Places,
    #[command(subcommand)]
    verb: cmd::Verb,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let environment = Environment::read(&cli.places);
    let ui = Ui::of_process(&environment);
    ui::draw_errors(&environment, &ui);
    match cmd::dispatch::<Cli>(cli.verb, &environment, &ui) {
        Ok(code) => code,
        Err(report) => {
            ui.error(&report);
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_consistent() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }
}
