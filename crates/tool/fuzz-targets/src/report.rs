//! Every report of an experiment's directory.

use std::path::Path;

use analysis::explain::Question;
use analysis::history::{HistoryQuery, Past, StudyOptions, gather, study};
use analysis::{Comparison, NoiseHistory, compare, explain, noise_cells, warmup_trims};
use archive::{ArchiveError, ExperimentDir};
use lint::{
    ComparisonContext, LintFinding, RunContext, block_verdicts, check_comparison, check_run,
    run_label,
};
use model::{Manifest, RunRecord, metric};
use render::{
    Compared, Format, HistoryInput, Meta, ReportInput, RunSummary, Style, next_steps, plot_history,
    render_answer, render_comparison, render_explanations, render_findings, render_history,
    render_html, render_list, render_markdown_post, render_metric, render_published, render_run,
};
use stats::change::STRICTNESS;

/// Text with everything that is optional.
const STYLE: Style = Style { width: 80, has_colour: true, has_costs: true };

/// Reads an experiment and renders it in every way, as `list`, `show`, `compare` and others do.
pub(crate) fn report(dir: &Path) {
    if let Err(error) = read(dir) {
        drop(error.to_string());
    }
}

fn read(dir: &Path) -> Result<(), ArchiveError> {
    let dir = ExperimentDir::open(dir)?;
    let manifest = dir.manifest()?;
    let listed: Vec<_> = dir.each_run(&manifest).iter().flatten().map(RunSummary::of).collect();
    render_list(&listed, manifest.plan.cells.len(), STYLE);
    let runs = dir.runs(&manifest)?;
    let trims = warmup_trims(&runs);
    let trimmed = |run: RunRecord| {
        let (path, trims) = (dir.run_dir(&run.cell.id), trims.of(&run));
        archive::trim_warmup(&path, run, &trims)
    };
    let runs = runs.into_iter().map(trimmed).collect::<Result<Vec<_>, _>>()?;
    for run in &runs {
        show(&manifest, run);
    }
    compared(&dir, &manifest, &runs)?;
    history(manifest, runs);
    Ok(())
}

/// Renders and lints one run.
fn show(manifest: &Manifest, run: &RunRecord) {
    render_run(manifest, run, STYLE);
    let experiment = &manifest.plan.experiment;
    let findings = check_run(&RunContext { experiment, host: &manifest.host, run, peers: 0 });
    let label = run_label(experiment, run, &findings);
    let checked = render::Checked { name: run.id.clone(), size: None, label, findings };
    render_findings(&checked, STYLE);
}

/// Compares the runs and renders the comparison, the page and the post.
fn compared(
    dir: &ExperimentDir,
    manifest: &Manifest,
    runs: &[RunRecord],
) -> Result<(), ArchiveError> {
    let intervals = runs.iter().map(|run| dir.intervals(&run.cell.id));
    let intervals = intervals.collect::<Result<Vec<_>, _>>()?;
    let experiment = &manifest.plan.experiment;
    let noise = NoiseHistory { experiments: vec![noise_cells(runs, &experiment.data)] };
    let mut comparison = match compare(runs, experiment, &experiment.base, &noise) {
        Ok(comparison) => comparison,
        Err(error) => {
            drop(error.to_string());
            return Ok(());
        }
    };
    let hosts = [&manifest.host];
    let findings = check_comparison(&ComparisonContext::of(experiment, &hosts, runs, &comparison));
    block_verdicts(&mut comparison, &findings);
    tables(manifest, runs, (&comparison, &findings));
    let input = ReportInput {
        storage: &[],
        manifest,
        runs,
        intervals: &intervals,
        comparison: &comparison,
        findings: &findings,
    };
    render_html(&input);
    render_markdown_post(&input);
    Ok(())
}

/// Renders a comparison in every format, and explains each variant in each step.
fn tables(
    manifest: &Manifest,
    runs: &[RunRecord],
    (comparison, findings): (&Comparison, &[LintFinding]),
) {
    let meta = Meta::of(manifest);
    let compared = Compared::of(comparison, &meta, runs, &manifest.host, findings);
    render_answer(&compared, STYLE);
    render_metric(&compared, metric::THROUGHPUT_OPS_PER_S.name, STYLE);
    render_published(&compared, STYLE);
    next_steps(&compared);
    let pairs = comparison.steps.iter().flat_map(|step| {
        comparison.variants.iter().map(move |variant| (step, variant.name.as_str()))
    });
    let explained = |(step, variant)| {
        explain(&Question {
            experiment: &manifest.plan.experiment,
            runs,
            comparison,
            step,
            variant,
            metric: None,
            cpus: manifest.host.cpus,
            blocking: &[],
        })
    };
    let explanations: Vec<_> = pairs.filter_map(explained).collect();
    for format in Format::ALL {
        render_comparison(&compared, format, STYLE);
        if !matches!(format, Format::Csv | Format::Tsv) {
            render_explanations(&compared, (&explanations, &[]), format, STYLE);
        }
    }
}

/// Gathers the history of an experiment that was repeated.
fn history(manifest: Manifest, runs: Vec<RunRecord>) {
    let again = || Past { manifest: manifest.clone(), runs: runs.clone() };
    let past = [again(), again(), again(), again()];
    let metrics = vec![metric::THROUGHPUT_OPS_PER_S.name.to_owned()];
    let query = HistoryQuery { metrics, ..HistoryQuery::default() };
    let Ok(gathered) = gather(&past, &query) else { return };
    let options = StudyOptions { min_effect: 0.02, strictness: STRICTNESS, since: None };
    if let Ok(study) = study(gathered.histories.clone(), &options) {
        let input = HistoryInput { study: &study, gathered: Some(&gathered) };
        plot_history(&input);
        for format in Format::ALL {
            render_history(&input, format, STYLE);
        }
    }
}
