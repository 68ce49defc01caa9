//! `assay compare`: the variants of an experiment against its base case.

use std::collections::BTreeSet;
use std::process::ExitCode;

use analysis::{CellComparison, StepComparison};
use archive::Results;
use miette::{Report, Result, miette};
use model::metric::{self, Kind, METRICS};
use model::{Label, Metric};
use plan::PlanError;
use render::{
    Compared, Format, HostsCompared, Lines, LinesOf, MetricReport, Report as _, Style, TradeOffs,
};

use super::across::{Factor, Request, compare_hosts};
use super::analyzed::Study;
use super::format::{ALL, formats};
use super::selected::JoinedResults;
use super::steady::Window;
use crate::environment::Environment;
use crate::ui::Ui;

/// Most similar metric names shown for an unknown one.
const SIMILAR_MAX: usize = 6;

/// Arguments of `assay compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay compare quickstart                          against the experiment's own base case
  assay compare quickstart --base lmdb --costs      another base, with CPU, IO and space
  assay compare quickstart --metric cpu_us_per_op   one metric in every step, with its verdicts
  assay compare docs-1k docs-4k --rum               reads, writes, space and cache, size by size
  assay compare quickstart/lmdb.c1.r1 quickstart/redb.c1.r1   two runs only
  assay compare ibench-small-server --lines ibench  a line per variant and step, relative first
  assay compare quickstart --format csv > all.csv   every metric, for a spreadsheet
  assay compare quickstart --format json            everything, for programs
  assay compare 20261120T220502Z-3e7d quickstart --across hosts   two machines, side by side

Exit code: 0 with results, 1 on an error, 3 if the experiment measured or decided nothing, 4 if a
run failed a check.")]
pub(crate) struct Args {
    /// Experiments (name, identifier or directory) or runs (EXPERIMENT/RUN); several are joined
    /// into one comparison
    #[arg(required = true, value_name = "EXPERIMENT|RUN")]
    experiments: Vec<String>,
    /// Base variant, to which the others are relative [default: the experiment's base]
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// Print only this metric, in every step, with its verdicts
    #[arg(long, value_name = "NAME", conflicts_with = "costs")]
    metric: Option<String>,
    /// Print what each variant pays for reads, writes, space and cache. Several experiments are
    /// sizes of one question and are compared separately
    #[arg(long, conflicts_with_all = ["base", "metric", "costs"])]
    rum: bool,
    /// Print one line per variant and step, with the columns of a report: ibench, rocksdb or
    /// iostat. Values relative to the base come first
    #[arg(long, value_name = "REPORT", value_parser = parse_lines, conflicts_with_all = ["costs", "metric", "rum"])]
    lines: Option<Lines>,
    /// Print the cost tables too
    #[arg(long)]
    costs: bool,
    /// Compare hosts instead of variants
    #[arg(long, value_name = "FACTOR", conflicts_with_all = ["costs", "lines", "rum"])]
    across: Option<Factor>,
    /// Output format
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = formats(ALL))]
    format: Format,
    #[command(flatten)]
    window: Window,
}

/// Prints the comparison.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let metric = args.metric.as_deref().map(known_metric).transpose()?;
    let results = Results::at(&environment.results);
    if let Some(Factor::Hosts) = args.across {
        let base = args.base.as_deref();
        let request = Request { names: &args.experiments, base, metric, window: args.window };
        let (across, experiments) = compare_hosts(&results, &request)?;
        ui.report(&HostsCompared { across: &across, experiments: &experiments }, args.format);
        let label = experiments.iter().map(|one| one.label).min().unwrap_or(Label::True);
        let has_failed = experiments.iter().any(|one| one.has_failed_check);
        return Ok(exit_code(label, has_failed));
    }
    if args.rum {
        return trade_offs(args, &results, ui);
    }
    let joined = JoinedResults::of(&results, &args.experiments, args.window)?;
    let study = Study::of(joined, args.base.as_deref(), &results)?;
    let style = Style { has_costs: args.costs, ..ui.style() };
    let (comparison, compared) = (&study.analyzed.comparison, study.compared());
    ui.rendered(&match (&args.metric, args.lines) {
        (Some(name), _) => {
            let cells = || comparison.steps.iter().flat_map(StepComparison::all_cells);
            let report = MetricReport::of(&compared, name);
            let report = report.ok_or_else(|| missing_metric(name, cells()))?;
            report.render(args.format, style)
        }
        (None, Some(lines)) => {
            let cpus = study.joined.manifests[0].host.cpus;
            LinesOf { compared: &compared, lines, cpus }.render(args.format, style)
        }
        (None, None) => compared.render(args.format, style),
    });
    Ok(exit_code(compared.label(), comparison.has_failed_check()))
}

/// Prints the trade-offs of the experiments, each compared on its own.
fn trade_offs(args: &Args, results: &Results, ui: &Ui) -> Result<ExitCode> {
    let joined = JoinedResults::each(results, &args.experiments, args.window)?;
    let studies = joined.into_iter().map(|one| Study::of(one, None, results));
    let studies = studies.collect::<Result<Vec<_>>>()?;
    let sizes: Vec<Compared<'_>> = studies.iter().map(Study::compared).collect();
    ui.report(&TradeOffs(&sizes), args.format);
    // The best label of all: one size with results is a result.
    let label = sizes.iter().map(Compared::label).min().unwrap_or(Label::True);
    let has_failed = studies.iter().any(|one| one.analyzed.comparison.has_failed_check());
    Ok(exit_code(label, has_failed))
}

/// Returns the report of that name.
fn parse_lines(name: &str) -> std::result::Result<Lines, String> {
    let names = Lines::ALL.map(Lines::name);
    let found = Lines::ALL.into_iter().find(|one| one.name() == name);
    found.ok_or_else(|| format!("`{name}` is not a report: write one of {}", names.join(", ")))
}

/// Returns the exit code of a comparison with that label.
pub(crate) fn exit_code(label: Label, has_failed_check: bool) -> ExitCode {
    if has_failed_check {
        Label::EXIT_FAILED_CHECK.into()
    } else if label.has_answer() {
        ExitCode::SUCCESS
    } else {
        Label::EXIT_NOTHING.into()
    }
}

/// Returns the metric of that name, before any file is read.
pub(crate) fn known_metric(name: &str) -> Result<Metric> {
    if let Some(metric) = metric::find(name) {
        return Ok(*metric);
    }
    let known = METRICS.iter().filter(|metric| metric.kind == Kind::Derived);
    let names = known.map(|metric| metric.name);
    let similar = names.clone().filter(|known| shares_a_part(name, known));
    let similar: Vec<&str> = similar.take(SIMILAR_MAX).collect();
    let otherwise = match similar[..] {
        [] => "CSV and JSON contain all metrics; docs/reference/metrics.md defines them".to_owned(),
        _ => format!("similar metrics: {}", similar.join(", ")),
    };
    let error = PlanError::new(format!("no metric is named `{name}`"));
    Err(error.meant(name, names, otherwise).into())
}

/// Returns whether two names share a part; `stalls` matches `stall`.
fn shares_a_part(one: &str, other: &str) -> bool {
    let is_prefix =
        |a: &str, b: &str| a.len() > 2 && b.len() > 2 && (a.starts_with(b) || b.starts_with(a));
    one.split('_').any(|a| other.split('_').any(|b| is_prefix(a, b)))
}

/// Returns the error for a metric that none of these cells has.
pub(crate) fn missing_metric<'a>(
    name: &str,
    cells: impl Iterator<Item = &'a CellComparison>,
) -> Report {
    let known: BTreeSet<&str> =
        cells.flat_map(|cell| cell.metrics.keys().map(String::as_str)).collect();
    let known: Vec<&str> = known.into_iter().collect();
    miette!(
        help = format!(
            "these runs have the metrics {}; docs/reference/metrics.md defines them",
            known.join(", ")
        ),
        "no step of these runs has `{name}`: the metric was not measured, or does not apply"
    )
}
