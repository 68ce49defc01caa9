//! `assay compare`: the variants of an experiment beside its base case.

use std::process::ExitCode;

use analysis::join;
use archive::Results;
use miette::Result;
use model::{Experiment, RunRecord};
use report::{Compared, Format, Meta, Style, render_comparison};

use super::judged::judge;
use super::selected::select;
use crate::environment::Environment;
use crate::told::Told as _;
use crate::ui::Ui;

/// What to compare, and how to print it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay compare quickstart                          against the experiment's own base case
  assay compare quickstart --base lmdb --costs      another base, with CPU, IO and space
  assay compare quickstart/lmdb.c1.r1 quickstart/redb.c1.r1   two runs alone
  assay compare quickstart --format csv > all.csv   every metric, for a spreadsheet")]
pub(crate) struct Args {
    /// Experiments (name, identifier or directory) or runs (EXPERIMENT/RUN); several are joined
    #[arg(required = true, value_name = "EXPERIMENT|RUN")]
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
    let (mut manifests, mut runs, mut is_some_runs) = (Vec::new(), Vec::new(), false);
    for name in &args.experiments {
        let selected = select(&results, name)?;
        is_some_runs |= selected.is_one_run;
        runs.extend(selected.runs);
        manifests.push(selected.manifest);
    }
    let experiments: Vec<_> = manifests.iter().map(|one| &one.plan.experiment).collect();
    let mut experiment = join(&experiments).told()?;
    if is_some_runs {
        keep_variants_of(&mut experiment, &runs);
    }
    let base = args.base.as_deref().unwrap_or(&experiment.base);
    let hosts: Vec<_> = manifests.iter().map(|one| &one.host).collect();
    let judged = judge(&experiment, &hosts, &runs, base)?;
    let meta = Meta::of(&manifests[0]);
    let style = Style { has_costs: args.costs, ..ui.style() };
    let (comparison, findings) = (&judged.comparison, &judged.findings);
    let compared = Compared::of(comparison, &meta, &runs, hosts[0], findings);
    ui.answer(render_comparison(&compared, args.format, style));
    Ok(ExitCode::SUCCESS)
}

/// Leaves what was named: its variants, with as many repetitions as the best of them has runs; the
/// first is the base if the experiment's own is not among them.
fn keep_variants_of(experiment: &mut Experiment, runs: &[RunRecord]) {
    let count = |name: &str| runs.iter().filter(|run| run.cell.variant == name).count();
    experiment.variants.retain(|variant| count(&variant.name) > 0);
    let most = experiment.variants.iter().map(|variant| count(&variant.name)).max();
    experiment.repetitions = u32::try_from(most.unwrap_or(1)).unwrap_or(u32::MAX);
    if let (None, Some(first)) = (experiment.variant(&experiment.base), experiment.variants.first())
    {
        experiment.base.clone_from(&first.name);
    }
}
