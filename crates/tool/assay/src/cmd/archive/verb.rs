//! The verbs of `assay archive`.

use std::process::ExitCode;

use clap::Subcommand;
use miette::Result;

use super::{merge, parquet};
use crate::environment::Environment;
use crate::ui::Ui;

/// Arguments of `assay archive`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay archive parquet                  write results/.parquet, which list and history use
  assay archive parquet /srv/results     the same for another archive
  duckdb -c \"SELECT directory, variant, step_index, avg(throughput_ops_per_s) FROM
    'results/.parquet/runs-*.parquet' WHERE is_counted GROUP BY ALL\"
  assay archive merge /mnt/one/results /mnt/two/results    add their experiments to results")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write every run, step and interval as Parquet files next to the experiments
    Parquet(parquet::Args),
    /// Add the experiments of other archives to this one
    Merge(merge::Args),
}

/// Executes one of its verbs.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    match &args.verb {
        Verb::Parquet(args) => parquet::run(args, environment, ui),
        Verb::Merge(args) => merge::run(args, environment, ui),
    }
}
