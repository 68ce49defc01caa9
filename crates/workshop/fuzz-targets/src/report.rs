//! Every report of an experiment's directory.

use std::path::Path;

use analysis::explain::{Question, StepProfiles};
use analysis::history::{HistoryQuery, Past, StudyOptions, gather, step_means, study};
use analysis::{Comparison, NoiseHistory, compare, explain, noise_cells, warmup_trims};
use archive::{ArchiveError, ExperimentDir};
use lint::{
    ComparisonContext, LintFinding, RunContext, block_verdicts, check_comparison, check_run,
    has_rule, run_label,
};
use model::{Manifest, RunRecord, metric};
use render::{
    Compared, Explained, Format, HistoryInput, Meta, MetricReport, PublishedFindings, Report,
    ReportInput, RunList, RunReport, RunSummary, Style, next_steps, plot_history, render_answer,
    render_html, render_markdown_post,
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
    RunList { runs: &listed, planned: manifest.plan.cells.len() }.render(Format::Text, STYLE);
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
    history(&manifest, &runs);
    Ok(())
}

/// Renders and lints one run.
fn show(manifest: &Manifest, run: &RunRecord) {
    let report = RunReport { manifest, run };
    for format in [Format::Text, Format::Json] {
        report.render(format, STYLE);
    }
    let experiment = &manifest.plan.experiment;
    let findings =
        check_run(&RunContext { experiment, host: &manifest.host, run, peers: 0, has_rule });
    let label = run_label(experiment, run, &findings);
    let checked = render::Checked { name: run.id.clone(), size: None, label, findings };
    [checked].render(Format::Text, STYLE);
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
        profiles: &[],
        damaged_profiles: &[],
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
    let throughput = MetricReport::of(&compared, metric::THROUGHPUT_OPS_PER_S.name);
    throughput.iter().for_each(|it| drop(it.render(Format::Text, STYLE)));
    PublishedFindings(&compared).render(Format::Text, STYLE);
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
            profiles: StepProfiles::default(),
        })
    };
    let explanations: Vec<_> = pairs.filter_map(explained).collect();
    for format in Format::ALL {
        compared.render(format, STYLE);
        if !matches!(format, Format::Csv | Format::Tsv) {
            let storage = &[][..];
            Explained { compared: &compared, explanations: &explanations, storage }
                .render(format, STYLE);
        }
    }
}

/// Gathers the history of an experiment that was repeated.
fn history(manifest: &Manifest, runs: &[RunRecord]) {
    let means = step_means(manifest, runs);
    let again = || Past { manifest: manifest.clone(), means: means.clone() };
    let past = [again(), again(), again(), again()];
    let metrics = vec![metric::THROUGHPUT_OPS_PER_S.name.to_owned()];
    let query = HistoryQuery { metrics, ..HistoryQuery::default() };
    let Ok(gathered) = gather(&past, &query) else { return };
    let options = StudyOptions { min_effect: 0.02, strictness: STRICTNESS, since: None };
    if let Ok(study) = study(gathered.histories.clone(), &options) {
        let input = HistoryInput { study: &study, gathered: Some(&gathered) };
        plot_history(&input);
        for format in Format::ALL {
            input.render(format, STYLE);
        }
    }
}
