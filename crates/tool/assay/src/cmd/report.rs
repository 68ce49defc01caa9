//! `assay report`: an HTML page, or a Markdown post with pictures.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use archive::{ExperimentDir, OutputDir, Results, write_output};
use miette::{Result, miette};
use model::{ShellCommand, Variant};
use render::{
    Compared, FINDINGS, ReportInput, page_of_hosts, render_html, render_markdown_post,
    render_reproduced,
};

use super::across::{Factor, Request, compare_hosts};
use super::analyzed::{MeasuredRuns, Study, analyze};
use super::profiles::page_profiles;
use super::selected::JoinedResults;
use super::steady::Window;
use crate::catalog::read;
use crate::diagnostic::IntoReport as _;
use crate::directory::check_dir;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::Ui;

/// Runs of each variant below which nothing is decided, where more are planned.
const RUNS_MIN: usize = 2;
/// Largest table of findings, in bytes: far more than all experiments here have.
const FINDINGS_BYTES_MAX: u64 = 16 << 20;

/// Arguments of `assay report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay report quickstart                       writes report.html to the results
  assay report quickstart --markdown post/      writes post/report.md with its pictures
  assay report rocksdb-releases open-loop --reproduced pages/   published findings, a row each")]
pub(crate) struct Args {
    /// Experiment: name (its newest), identifier or directory; several with --across and
    /// --reproduced
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// File to write the page to [default: report.html of the experiment]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a Markdown post with SVG pictures into this directory instead of the page
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    markdown: Option<PathBuf>,
    /// Show hosts instead of variants
    #[arg(long, value_name = "FACTOR", requires = "output", conflicts_with = "markdown")]
    across: Option<Factor>,
    /// Write the published findings of the experiments, next to the figures here, as Markdown pages
    /// into this directory. Pages of other experiments stay
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "markdown", "across"])]
    reproduced: Option<PathBuf>,
    #[command(flatten)]
    window: Window,
}

/// Writes the report and prints its path.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let results = Results::at(&environment.results);
    for (option, dir) in [("--markdown", &args.markdown), ("--reproduced", &args.reproduced)] {
        dir.as_deref().map_or(Ok(()), |dir| check_dir(option, dir))?;
    }
    if let Some(to) = &args.reproduced {
        let index = write_reproduced(args, &results, to, ui)?;
        ui.print(index.display());
        return Ok(ExitCode::SUCCESS);
    }
    let written = match (&args.experiments[..], args.across, &args.output, &args.markdown) {
        (names, Some(Factor::Hosts), Some(to), _) => {
            let request = Request { names, base: None, metric: None, window: args.window };
            let (across, experiments) = compare_hosts(&results, &request)?;
            write_output(to, page_of_hosts(&across, &experiments)).into_report()?;
            to.clone()
        }
        ([name], _, _, Some(to)) => {
            let dir = misplaced::find(&results, name)?;
            write_all(to, with_input(&dir, args.window, ui, render_markdown_post)?)?
        }
        ([name], _, to, None) => {
            let dir = misplaced::find(&results, name)?;
            // What is written to an experiment in one file is lost.
            let next = dir.is_unpacked().then(|| Path::new(name).with_extension("html"));
            write_page(&dir, to.as_ref().or(next.as_ref()).map(PathBuf::as_path), args.window, ui)?
        }
        _ => {
            return Err(miette!(
                help = "`--across hosts` shows experiments of several hosts; `assay compare` joins \
                        variants of several experiments",
                "a report shows one experiment"
            ));
        }
    };
    ui.print(written.display());
    Ok(ExitCode::SUCCESS)
}

/// Writes the published findings of the experiments that state some; returns the index.
fn write_reproduced(args: &Args, results: &Results, to: &Path, ui: &Ui) -> Result<PathBuf> {
    let mut joined = JoinedResults::each(results, &args.experiments, args.window)?;
    joined.retain(|one| !one.experiment.published.is_empty() && has_runs(one, ui));
    if joined.is_empty() {
        return Err(miette!(
            help = "name experiments whose files have [[published]], and run them first",
            "none of these experiments has published findings and two runs of each variant"
        ));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = joined.iter().find(|one| !names.insert(&one.experiment.name)) {
        return Err(miette!(
            help = "name each experiment once: the report writes one page per experiment",
            "{} is named twice",
            twice.experiment.name
        ));
    }
    let studies = joined.into_iter().map(|one| Study::of(one, None, results));
    let studies = studies.collect::<Result<Vec<_>>>()?;
    let all: Vec<Compared<'_>> = studies.iter().map(Study::compared).collect();
    let path = to.join(FINDINGS);
    let unreadable = |error: &dyn Display| {
        miette!(
            help = "repair the file or restore an earlier version: only this file has the \
                    findings of removed results",
            "cannot read {}: {error}",
            path.display()
        )
    };
    let earlier = match read(&path, FINDINGS_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.map_err(|error| unreadable(&error))?,
    };
    let files = render_reproduced(&earlier, &all).map_err(|error| unreadable(&error))?;
    write_all(to, files)?;
    Ok(to.join("README.md"))
}

/// Returns whether an experiment has enough runs to replace earlier findings; if not, states it.
fn has_runs(joined: &JoinedResults, ui: &Ui) -> bool {
    let JoinedResults { experiment, runs, .. } = joined;
    let recorded = |name: &str| runs.iter().filter(|run| run.cell.variant == name).count();
    let planned = |name: &str| joined.planned(name) as usize;
    let lacks = |Variant { name, .. }: &&Variant| recorded(name) < planned(name).min(RUNS_MIN);
    let Some(Variant { name, .. }) = experiment.variants.iter().find(lacks) else { return true };
    ui.status(format!(
        "left out: {} has {} of {} runs of {name}; {} runs the missing ones",
        experiment.name,
        recorded(name),
        planned(name),
        ShellCommand::of("assay run").option("--resume", &experiment.name)
    ));
    false
}

/// Writes the page; returns its path.
pub(crate) fn write_page(
    dir: &ExperimentDir,
    to: Option<&Path>,
    window: Window,
    ui: &Ui,
) -> Result<PathBuf> {
    let page = with_input(dir, window, ui, render_html)?;
    let Some(path) = to else { return dir.write_page(&page).into_report() };
    write_output(path, page).into_report()?;
    Ok(path.to_path_buf())
}

/// Writes files into a directory; returns the path of the first.
fn write_all(to: &Path, files: Vec<(String, impl AsRef<[u8]>)>) -> Result<PathBuf> {
    let dir = OutputDir::create(to).into_report()?;
    for (name, bytes) in &files {
        dir.write(name, bytes.as_ref()).into_report()?;
    }
    Ok(to.join(&files[0].0))
}

/// Reads the input of a report and renders it.
fn with_input<T>(
    dir: &ExperimentDir,
    window: Window,
    ui: &Ui,
    render: impl Fn(&ReportInput<'_>) -> T,
) -> Result<T> {
    let manifest = dir.manifest().into_report()?;
    let runs = window.runs(dir, &manifest)?;
    let mut intervals = Vec::new();
    for run in &runs {
        intervals.push(dir.intervals(&run.cell.id).into_report()?);
    }
    let experiment = &manifest.plan.experiment;
    let measured = MeasuredRuns::of(dir, &manifest, &runs)?;
    let analyzed = analyze(measured, &experiment.base, &Results::of(dir))?;
    let stored = page_profiles(&runs, &experiment.base, |_| Some(dir));
    let damaged = stored.damage();
    damaged.iter().for_each(|reason| ui.status(format_args!("warning   {reason}")));
    Ok(render(&ReportInput {
        manifest: &manifest,
        runs: &runs,
        intervals: &intervals,
        comparison: &analyzed.comparison,
        findings: &analyzed.findings,
        storage: &analyzed.storage,
        profiles: &stored.profiles,
        damaged_profiles: &damaged,
    }))
}
