//! Recomputes a record's figures from its intervals and histogram logs.

use std::path::Path;

use archive::ArchiveError;
use model::record::{OpCounts, OpSummaries, OpSummary};
use model::{Nanos, OpKind, RunRecord, StepRecord};

use super::warmup_trim::Archive;

/// Returns the figures of a run's steps that its intervals and histogram logs do not give.
///
/// One text for each step that differs; percentiles are not compared. `dir` is the run's
/// directory. Steps are recomputed as for a trim of nothing; each second takes about 0.1 ms per
/// kind of operation.
///
/// # Errors
/// When the run's intervals or histogram logs are absent or damaged.
pub fn recount(dir: &Path, run: &RunRecord) -> Result<Vec<String>, ArchiveError> {
    let archive = Archive::read(dir)?;
    let mut differing = Vec::new();
    for step in &run.steps {
        let counted = archive.step(step, Nanos(0), run.calibration.as_ref())?;
        let found = differences(step, &counted);
        if !found.is_empty() {
            let (index, name, found) = (step.index, &step.step.name, found.join(", "));
            differing.push(format!("step {index} {name} has other {found}"));
        }
    }
    Ok(differing)
}

/// Names the figures of a step that differ from those counted again.
fn differences(step: &StepRecord, counted: &StepRecord) -> Vec<&'static str> {
    // A search's arrivals that were not served are in its probes, and in no log.
    let is_timed = step.search.is_none();
    let parts = [
        ("operations", counts(&step.clients) != counts(&counted.clients)),
        ("operations of writers", counts(&step.writers) != counts(&counted.writers)),
        ("seconds", step.seconds != counted.seconds),
        ("operations within the limit", step.within_limit != counted.within_limit),
        ("invalid intervals", invalid(step) != invalid(counted)),
        ("buckets of times", is_timed && step.buckets != counted.buckets),
    ];
    parts.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect()
}

/// Returns the counts of each kind of operation.
fn counts(of: &OpSummaries) -> Vec<(&OpKind, OpCounts)> {
    done(of).map(|(kind, summary)| (kind, summary.counts)).collect()
}

/// Returns the number of invalid intervals and the length of the valid rest.
fn invalid(step: &StepRecord) -> Option<(u32, Nanos)> {
    step.invalid_intervals.as_ref().map(|invalid| (invalid.intervals, invalid.valid_ns))
}

/// Returns the kinds of operations that were done or failed.
fn done(of: &OpSummaries) -> impl Iterator<Item = (&OpKind, &OpSummary)> {
    of.iter().filter(|(_, summary)| summary.counts.done + summary.counts.failed > 0)
}
