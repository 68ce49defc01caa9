//! `assay report`: an HTML page, or a Markdown post with pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use archive::{ExperimentDir, Results};
use miette::{IntoDiagnostic, Result, WrapErr};
use render::{ReportInput, render_html, render_markdown_post};

use super::analyzed::analyze;
use super::steady::Window;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Arguments of `assay report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay report quickstart                       writes report.html to the results
  assay report quickstart --markdown post/      writes post/report.md with its pictures")]
pub(crate) struct Args {
    /// Experiment: name (its newest), identifier or directory
    experiment: String,
    /// File to write the page to [default: report.html in the experiment's directory]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a Markdown post with SVG pictures into this directory instead of the page
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    window: Window,
}

/// Writes the report and prints its path.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let dir = Results::at(&environment.results).find(&args.experiment).into_report()?;
    let written = match &args.markdown {
        Some(to) => write_post(&dir, to, args.window)?,
        None => write_page(&dir, args.output.as_deref(), args.window)?,
    };
    ui.print(written.display());
    Ok(ExitCode::SUCCESS)
}

/// Writes the page; returns its path.
pub(crate) fn write_page(
    dir: &ExperimentDir,
    to: Option<&Path>,
    window: Window,
) -> Result<PathBuf> {
    let page = with_input(dir, window, render_html)?;
    let Some(path) = to else { return dir.write_page(&page).into_report() };
    write(path, page.as_bytes())?;
    Ok(path.to_path_buf())
}

fn write_post(dir: &ExperimentDir, to: &Path, window: Window) -> Result<PathBuf> {
    fs::create_dir_all(to)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot create {}", to.display()))?;
    for (name, bytes) in with_input(dir, window, render_markdown_post)? {
        write(&to.join(name), &bytes)?;
    }
    Ok(to.join("report.md"))
}

/// Reads the input of a report and renders it.
fn with_input<T>(
    dir: &ExperimentDir,
    window: Window,
    render: impl Fn(&ReportInput<'_>) -> T,
) -> Result<T> {
    let manifest = dir.manifest().into_report()?;
    let runs = window.runs(dir, &manifest)?;
    let mut intervals = Vec::new();
    for run in &runs {
        intervals.push(dir.intervals(&run.cell.id).into_report()?);
    }
    let experiment = &manifest.plan.experiment;
    let analyzed =
        analyze(experiment, &[&manifest.host], &runs, &experiment.base, &Results::of(dir))?;
    Ok(render(&ReportInput {
        manifest: &manifest,
        runs: &runs,
        intervals: &intervals,
        comparison: &analyzed.comparison,
        findings: &analyzed.findings,
    }))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", path.display()))
}
