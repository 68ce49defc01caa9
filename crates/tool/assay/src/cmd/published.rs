//! Published findings of an experiment: tested in the plan and in results.

use analysis::untried;
use archive::{ExperimentDir, Results};
use miette::Result;
use model::{Experiment, Manifest, Published, PublishedFinding, RunRecord};
use render::unmeasured;
use serde::Serialize;

use super::analyzed::{Analyzed, MeasuredRuns, analyze};

/// Fewest repetitions that decide a finding: one run has no noise estimate.
const REPETITIONS_MIN: u32 = 2;

/// What a plan tests of one publication.
#[derive(Serialize)]
pub(crate) struct PlannedFindings<'a> {
    source: &'a str,
    scaled: &'a str,
    findings: usize,
    not_tested: Vec<NotTested<'a>>,
}

/// A finding that a plan does not test.
#[derive(Serialize)]
struct NotTested<'a> {
    claim: &'a str,
    why: String,
}

/// Returns what a plan tests of each publication.
pub(crate) fn planned(experiment: &Experiment) -> Vec<PlannedFindings<'_>> {
    experiment.published.iter().map(|one| PlannedFindings::of(experiment, one)).collect()
}

/// Returns a plan's lines on published findings: tested, scaled, not tested.
pub(crate) fn lines(experiment: &Experiment) -> Vec<String> {
    let mut lines: Vec<String> =
        planned(experiment).iter().flat_map(PlannedFindings::lines).collect();
    if !lines.is_empty() && experiment.repetitions < REPETITIONS_MIN {
        lines.push(
            "undecided one repetition decides no published finding: run three repetitions"
                .to_owned(),
        );
    }
    lines
}

impl<'a> PlannedFindings<'a> {
    fn of(experiment: &Experiment, one: &'a Published) -> Self {
        let not_tested = |finding: &'a PublishedFinding| {
            let why = untried(experiment, finding)?;
            Some(NotTested { claim: &finding.claim, why: unmeasured(finding, &why) })
        };
        Self {
            source: &one.source,
            scaled: &one.scaled,
            findings: one.findings.len(),
            not_tested: one.findings.iter().filter_map(not_tested).collect(),
        }
    }

    fn lines(&self) -> Vec<String> {
        let all = self.findings;
        let findings = if all == 1 { "finding" } else { "findings" };
        let tested = format!("{} of {all} {findings} will be tested", all - self.not_tested.len());
        let mut lines = vec![format!("published {}: {tested}", self.source)];
        lines.extend((!self.scaled.is_empty()).then(|| format!("scaled    {}", self.scaled)));
        let line = |one: &NotTested<'_>| format!("not tested {}: {}", one.claim, one.why);
        lines.extend(self.not_tested.iter().map(line));
        lines
    }
}

/// Compares the runs of an experiment that has published findings; `None` without these or steps.
pub(crate) fn analyzed(
    dir: &ExperimentDir,
    manifest: &Manifest,
    runs: &[RunRecord],
) -> Result<Option<Analyzed>> {
    let experiment = &manifest.plan.experiment;
    if experiment.published.is_empty() || runs.iter().all(|run| run.steps.is_empty()) {
        return Ok(None);
    }
    let measured = MeasuredRuns::of(dir, manifest, runs)?;
    analyze(measured, &experiment.base, &Results::of(dir)).map(Some)
}
