//! `assay compare`: the variants of an experiment beside its base case.

use std::collections::BTreeSet;
use std::process::ExitCode;

use analysis::Comparison;
use archive::Results;
use miette::{Report, Result, miette};
use model::metric::{self, Kind, METRICS};
use plan::nearest;
use render::{Compared, Format, Meta, Style, render_comparison, render_metric};

use super::judged::judge;
use super::selected::Joined;
use super::steady::Window;
use crate::environment::Environment;
use crate::ui::Ui;

/// Names told of metrics that share a word with one that is none.
const ALIKE: usize = 6;

/// What to compare, and how to print it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay compare quickstart                          against the experiment's own base case
  assay compare quickstart --base lmdb --costs      another base, with CPU, IO and space
  assay compare quickstart --metric cpu_us_per_op   one metric in every step, with its verdicts
  assay compare quickstart/lmdb.c1.r1 quickstart/redb.c1.r1   two runs alone
  assay compare quickstart --format csv > all.csv   every metric, for a spreadsheet")]
pub(crate) struct Args {
    /// Experiments (name, identifier or directory) or runs (EXPERIMENT/RUN); several are joined
    #[arg(required = true, value_name = "EXPERIMENT|RUN")]
    experiments: Vec<String>,
    /// Variant that the others are relative to [default: the experiment's]
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// Print this metric alone, in every step, with its verdicts
    #[arg(long, value_name = "NAME", conflicts_with_all = ["costs", "format"])]
    metric: Option<String>,
    /// Print the cost tables too
    #[arg(long)]
    costs: bool,
    /// Form of output: text, markdown, csv or json
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    window: Window,
}

/// Prints the comparison.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    args.metric.as_deref().map_or(Ok(()), check_metric)?;
    let results = Results::at(&environment.results);
    let joined = Joined::of(&results, &args.experiments, args.window)?;
    let (experiment, hosts) = (&joined.experiment, joined.hosts());
    let base = args.base.as_deref().unwrap_or(&experiment.base);
    let judged = judge(experiment, &hosts, &joined.runs, base, &results)?;
    let meta = Meta::of(&joined.manifests[0]);
    let style = Style { has_costs: args.costs, ..ui.style() };
    let (comparison, findings) = (&judged.comparison, &judged.findings);
    let compared = Compared::of(comparison, &meta, &joined.runs, hosts[0], findings);
    ui.answer(match &args.metric {
        Some(name) => {
            render_metric(&compared, name, style).ok_or_else(|| unknown_here(name, comparison))?
        }
        None => render_comparison(&compared, args.format, style),
    });
    Ok(ExitCode::SUCCESS)
}

/// Refuses a metric that is none, before anything is read.
fn check_metric(name: &str) -> Result<()> {
    if metric::find(name).is_some() {
        return Ok(());
    }
    let known = || METRICS.iter().filter(|metric| metric.kind == Kind::Derived);
    let names = known().map(|metric| metric.name);
    let alike: Vec<&str> = names.filter(|known| shares_a_word(name, known)).take(ALIKE).collect();
    let help = match nearest(name, known().map(|metric| metric.name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if alike.is_empty() => "GLOSSARY.md lists all; CSV and JSON hold all".to_owned(),
        None => format!("metrics like it: {}", alike.join(", ")),
    };
    Err(miette!(help = help, "no metric is named `{name}`"))
}

/// Returns whether two names have a word in common; `stalls` and `stall` are one.
fn shares_a_word(one: &str, other: &str) -> bool {
    let is_one =
        |a: &str, b: &str| a.len() > 2 && b.len() > 2 && (a.starts_with(b) || b.starts_with(a));
    one.split('_').any(|a| other.split('_').any(|b| is_one(a, b)))
}

/// Tells that no run knows a metric, and which ones they know.
fn unknown_here(name: &str, comparison: &Comparison) -> Report {
    let cells = comparison.steps.iter().flat_map(|step| &step.cells);
    let known: BTreeSet<&str> =
        cells.flat_map(|cell| cell.metrics.keys().map(String::as_str)).collect();
    let known: Vec<&str> = known.into_iter().collect();
    miette!(
        help = format!("these runs know: {}", known.join(", ")),
        "no step of these runs knows `{name}`: it was not measured there, or has no meaning there"
    )
}
