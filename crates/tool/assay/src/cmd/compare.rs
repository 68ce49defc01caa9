//! `assay compare`: the variants of an experiment beside its base case.

use std::collections::BTreeSet;
use std::process::ExitCode;

use analysis::join;
use archive::Results;
use miette::{Result, miette};
use model::{Experiment, RunRecord};
use report::{Compared, Format, Meta, Style, render_comparison};

use super::judged::judge;
use super::selected::{Selected, select};
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
    let named = args.experiments.iter();
    let mut named = named.map(|name| select(&results, name)).collect::<Result<Vec<_>>>()?;
    let labels: Vec<String> = named.iter().map(Selected::label).collect();
    let asked = labels.iter().zip(&named);
    let asked: Vec<_> =
        asked.map(|(label, one)| (label.as_str(), &one.manifest.plan.experiment)).collect();
    let mut experiment = join(&asked).told()?;
    let runs = runs_of(&mut named);
    let hosts: Vec<_> = named.iter().map(|one| &one.manifest.host).collect();
    if named.iter().any(|one| one.is_one_run) {
        keep_variants_of(&mut experiment, &runs);
        check_pair(&experiment, &args.experiments)?;
    }
    let base = args.base.as_deref().unwrap_or(&experiment.base);
    let judged = judge(&experiment, &hosts, &runs, base, &results)?;
    let meta = Meta::of(&named[0].manifest);
    let style = Style { has_costs: args.costs, ..ui.style() };
    let (comparison, findings) = (&judged.comparison, &judged.findings);
    let compared = Compared::of(comparison, &meta, &runs, hosts[0], findings);
    ui.answer(render_comparison(&compared, args.format, style));
    Ok(ExitCode::SUCCESS)
}

/// Returns the runs that were named, each once.
fn runs_of(named: &mut [Selected]) -> Vec<RunRecord> {
    let mut seen = BTreeSet::new();
    let runs = named.iter_mut().flat_map(|one| std::mem::take(&mut one.runs));
    runs.filter(|run| seen.insert(run.id.clone())).collect()
}

/// Refuses runs that are all of one variant: there is nothing to compare them with.
fn check_pair(experiment: &Experiment, named: &[String]) -> Result<()> {
    let [only] = &experiment.variants[..] else { return Ok(()) };
    let what = if named.len() == 1 { "is one run" } else { "are runs" };
    let shown = if named.len() == 1 { "shows it" } else { "shows them" };
    Err(miette!(
        help = format!(
            "name a run of another variant beside it; `assay show EXPERIMENT RUN` {shown} alone"
        ),
        "{} {what} of `{}`, and nothing it could be compared with was named",
        named.join(", "),
        only.name
    ))
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
