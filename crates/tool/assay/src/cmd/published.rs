//! Published findings of an experiment: tested in the plan and in results.

use analysis::untried;
use archive::{ExperimentDir, Results};
use miette::Result;
use model::{Experiment, Manifest, Published, PublishedFinding, RunRecord};
use render::{Compared, Meta, Style, render_published, unmeasured};

use super::analyzed::analyze;

/// Fewest repetitions that decide a finding: one run has no noise estimate.
const REPETITIONS_MIN: u32 = 2;

/// Returns a plan's lines on published findings: tested, scaled, not tested.
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
        Some(format!("not tested {}: {}", finding.claim, unmeasured(finding, &why)))
    };
    let not_tested: Vec<String> = one.findings.iter().filter_map(of).collect();
    let all = one.findings.len();
    let findings = if all == 1 { "finding" } else { "findings" };
    let tested = format!("{} of {all} {findings} will be tested", all - not_tested.len());
    let mut lines = vec![format!("published {}: {tested}", one.source)];
    lines.extend((!one.scaled.is_empty()).then(|| format!("scaled    {}", one.scaled)));
    lines.extend(not_tested);
    lines
}

/// Compares published findings with the runs; `None` without findings or steps.
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
    let analyzed =
        analyze(experiment, &[&manifest.host], runs, &experiment.base, &Results::of(dir))?;
    let meta = Meta::of(manifest);
    let (comparison, findings) = (&analyzed.comparison, &analyzed.findings);
    let compared = Compared::of(comparison, &meta, runs, &manifest.host, findings);
    Ok(render_published(&compared, style))
}
