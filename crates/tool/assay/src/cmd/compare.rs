//! `assay compare`: the variants of an experiment beside its base case.

use std::process::ExitCode;

use analysis::{compare, join};
use archive::Results;
use miette::Result;
use report::{Format, Meta, Style, render_comparison};

use crate::environment::Environment;
use crate::told::Told as _;
use crate::ui::Ui;

/// What to compare, and how to print it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay compare quickstart                          against the experiment's own base case
  assay compare quickstart --base lmdb --costs      another base, with CPU, IO and space
  assay compare quickstart --format csv > all.csv   every metric, for a spreadsheet")]
pub(crate) struct Args {
    /// Experiments: name (its newest), identifier or directory; several are joined
    #[arg(required = true)]
    experiments: Vec<String>,
    /// Variant that the others are relative to [default: the experiment's]
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// Print the cost tables too
    #[arg(long)]
    costs: bool,
    /// Form of output: text, markdown, csv or json
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

/// Prints the comparison.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let results = Results::at(&environment.results);
    let (mut manifests, mut runs) = (Vec::new(), Vec::new());
    for name in &args.experiments {
        let dir = results.find(name).told()?;
        let manifest = dir.manifest().told()?;
        runs.extend(dir.runs(&manifest).told()?);
        manifests.push(manifest);
    }
    let experiments: Vec<_> = manifests.iter().map(|one| &one.plan.experiment).collect();
    let experiment = join(&experiments).told()?;
    let base = args.base.as_deref().unwrap_or(&experiment.base);
    let comparison = compare(&runs, &experiment, base).told()?;
    // Joined experiments are one in the reader's eyes: what is doubtful about them is found anew.
    let meta = Meta { findings: plan::findings(&experiment), ..Meta::of(&manifests[0]) };
    let style = Style { has_costs: args.costs, ..ui.style() };
    ui.answer(render_comparison(&comparison, &meta, args.format, style));
    Ok(ExitCode::SUCCESS)
}
