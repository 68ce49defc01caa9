//! What an experiment holds against what others published: before it is run, and after.

use analysis::untried;
use archive::ExperimentDir;
use miette::Result;
use model::{Experiment, Manifest, Published, PublishedFinding, RunRecord};
use render::{Compared, Meta, Style, render_published, unmeasured};

use super::judged::judge;

/// Fewest repetitions that decide a finding: one run tells nothing of the noise.
const REPETITIONS_MIN: u32 = 2;

/// Returns a plan's lines on publications: how many findings will be tried, what differs on
/// purpose, and which are not tried; none where the file states none.
pub(crate) fn planned(experiment: &Experiment) -> Vec<String> {
    let mut lines: Vec<String> =
        experiment.published.iter().flat_map(|one| publication(experiment, one)).collect();
    if !lines.is_empty() && experiment.repetitions < REPETITIONS_MIN {
        lines.push("undecided one repetition decides no published finding: run three".to_owned());
    }
    lines
}

fn publication(experiment: &Experiment, one: &Published) -> Vec<String> {
    let of = |finding: &PublishedFinding| {
        let why = untried(experiment, finding)?;
        Some(format!("not tried {}: {}", finding.claim, unmeasured(finding, &why)))
    };
    let not_tried: Vec<String> = one.findings.iter().filter_map(of).collect();
    let all = one.findings.len();
    let tried = match (all - not_tried.len(), all) {
        (1, 1) => "its finding will be tried".to_owned(),
        (tried, all) if tried == all => format!("all {all} findings will be tried"),
        (tried, all) => format!("{tried} of {all} findings will be tried"),
    };
    let mut lines = vec![format!("published {}: {tried}", one.source)];
    lines.extend((!one.scaled.is_empty()).then(|| format!("scaled    {}", one.scaled)));
    lines.extend(not_tried);
    lines
}

/// Returns the findings beside what the runs of an experiment show; `None` where it states none,
/// and before any step was finished.
pub(crate) fn shown(
    dir: &ExperimentDir,
    manifest: &Manifest,
    runs: &[RunRecord],
    style: Style,
) -> Result<Option<String>> {
    let experiment = &manifest.plan.experiment;
    if experiment.published.is_empty() || runs.iter().all(|run| run.steps.is_empty()) {
        return Ok(None);
    }
    let judged = judge(experiment, &[&manifest.host], runs, &experiment.base, &dir.archive())?;
    let meta = Meta::of(manifest);
    let (comparison, findings) = (&judged.comparison, &judged.findings);
    let compared = Compared::of(comparison, &meta, runs, &manifest.host, findings);
    Ok(render_published(&compared, style))
}
