//! Recomputes a record's figures from its intervals and histogram logs.

use std::path::Path;

use archive::ArchiveError;
use model::record::{OpCounts, OpSummaries, OpSummary, Percentiles};
use model::{Buckets, Nanos, OpKind, RunRecord, StepRecord};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::warmup_trim::Archive;

/// Returns the figures of a run's steps that its intervals and histogram logs do not give.
///
/// One text for each step that differs. `dir` is the run's directory. Steps are recomputed as for
/// a trim of nothing; each second takes about 0.1 ms per kind of operation.
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
    let differ_in = |of: fn(&StepRecord) -> &Buckets| {
        is_timed && !of(step).is_empty() && of(step) != of(counted)
    };
    let parts = [
        ("operations", counts(&step.clients) != counts(&counted.clients)),
        ("operations of writers", counts(&step.writers) != counts(&counted.writers)),
        ("seconds", Some(&step.seconds) != read_again(&counted.seconds).as_ref()),
        ("operations within the limit", step.within_limit != counted.within_limit),
        ("invalid intervals", invalid(step) != invalid(counted)),
        // Records of an older Assay have none.
        ("buckets of times", differ_in(|one| &one.buckets)),
        ("fine buckets of times", differ_in(|one| &one.fine_buckets)),
        ("service times", differ(step, counted, |one| one.service)),
        ("response times", is_timed && differ(step, counted, |one| one.response)),
        ("start lag", is_timed && !are_same(&start_lag(step), &start_lag(counted))),
    ];
    parts.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect()
}

/// Largest difference of two means of the same values, as a share.
///
/// Our choice: JSON numbers are read to the last or last but one of their 53 bits.
const MEAN_ERROR: f64 = 1e-12;

/// Returns whether times of clients, writers or the valid part of a step differ.
fn differ(step: &StepRecord, counted: &StepRecord, of: fn(&OpSummary) -> Percentiles) -> bool {
    let all = |step: &StepRecord| {
        let valid = step.invalid_intervals.as_ref().map(|invalid| &invalid.valid);
        let groups = [Some(&step.clients), Some(&step.writers), valid];
        let times = groups.into_iter().flatten().flat_map(done);
        times.map(|(kind, summary)| (*kind, of(summary))).collect::<Vec<_>>()
    };
    let (recorded, counted) = (all(step), all(counted));
    let is_same = |((kind, one), (other, two)): (&(OpKind, _), &(OpKind, _))| {
        kind == other && are_same(one, two)
    };
    recorded.len() != counted.len() || !recorded.iter().zip(&counted).all(is_same)
}

/// Returns a value as a record has it: floats read from JSON may differ in their last bit.
fn read_again<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    serde_json::from_str(&serde_json::to_string(value).ok()?).ok()
}

fn start_lag(step: &StepRecord) -> Percentiles {
    step.arrivals.as_ref().map(|arrivals| arrivals.start_lag).unwrap_or_default()
}

/// Returns whether percentiles are equal, and means up to [`MEAN_ERROR`].
fn are_same(one: &Percentiles, other: &Percentiles) -> bool {
    let mean_ns = other.mean_ns;
    let is_near = (one.mean_ns - mean_ns).abs() <= MEAN_ERROR * mean_ns.abs();
    is_near && Percentiles { mean_ns, ..*one } == *other
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: of the figures of a record, a mean alone may come back as another number than was
    /// written, and is the same nonetheless.
    #[test]
    fn a_mean_that_lost_its_last_bit_in_json_is_the_same() {
        let read_again = |one: &Percentiles| -> Percentiles {
            let text = serde_json::to_string(one).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let all = (1..10_000_u64).map(|sum| Percentiles {
            mean_ns: sum as f64 * 1e3 / 7.0,
            max_ns: sum,
            ..Percentiles::default()
        });
        let (changed, same): (Vec<_>, Vec<_>) = all.partition(|one| read_again(one) != *one);
        assert!(!changed.is_empty() && !same.is_empty());
        assert!(changed.iter().chain(&same).all(|one| are_same(&read_again(one), one)));
        let one = same[0];
        assert!(!are_same(&Percentiles { mean_ns: one.mean_ns * (1.0 + 1e-11), ..one }, &one));
        assert!(!are_same(&Percentiles { max_ns: one.max_ns + 1, ..one }, &one));
    }
}
