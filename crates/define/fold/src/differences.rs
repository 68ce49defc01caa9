//! Differences of a record from one that is folded again.

use model::record::{OpCounts, OpSummaries, OpSummary, Percentiles, SecondStats};
use model::{Buckets, Nanos, OpKind, StepRecord};

/// Names the figures of a step that differ from those counted again.
///
/// Figures that an older Assay did not record are not compared, nor those that depend on constants
/// of this one: load status and time profile.
///
/// Response times are compared if `has_times`: if those of arrivals not served are known.
pub fn differences(step: &StepRecord, counted: &StepRecord, has_times: bool) -> Vec<&'static str> {
    let differ_in =
        |of: fn(&StepRecord) -> &Buckets| !of(step).is_empty() && of(step) != of(counted);
    let parts = [
        ("operations", counts(&step.clients) != counts(&counted.clients)),
        ("operations of writers", counts(&step.writers) != counts(&counted.writers)),
        ("seconds", !are_same_seconds(&step.seconds, &counted.seconds)),
        ("operations within the limit", step.within_limit != counted.within_limit),
        ("invalid intervals", invalid(step) != invalid(counted)),
        // Records of an older Assay have none.
        ("buckets of times", differ_in(|one| &one.buckets)),
        ("fine buckets of times", differ_in(|one| &one.fine_buckets)),
        ("service times", differ(step, counted, |one| one.service)),
        ("response times", has_times && differ(step, counted, |one| one.response)),
        ("start lag", !are_same(&start_lag(step), &start_lag(counted))),
    ];
    parts.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect()
}

/// Largest difference of two readings of one number, as a share.
///
/// Our choice: JSON numbers are read to the last or last but one of their 53 bits.
const JSON_ERROR: f64 = 1e-12;

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

fn start_lag(step: &StepRecord) -> Percentiles {
    step.arrivals.as_ref().map(|arrivals| arrivals.start_lag).unwrap_or_default()
}

/// Returns whether percentiles are equal, and means up to [`JSON_ERROR`].
fn are_same(one: &Percentiles, other: &Percentiles) -> bool {
    let mean_ns = other.mean_ns;
    is_near(one.mean_ns, mean_ns) && Percentiles { mean_ns, ..*one } == *other
}

/// Returns whether counts are equal, and rates up to [`JSON_ERROR`].
fn are_same_seconds(one: &SecondStats, other: &SecondStats) -> bool {
    let SecondStats { p1_ops, p50_ops, max_ops, .. } = *other;
    let rates = [(one.p1_ops, p1_ops), (one.p50_ops, p50_ops), (one.max_ops, max_ops)];
    let are_near = rates.iter().all(|(one, other)| is_near(*one, *other));
    are_near && SecondStats { p1_ops, p50_ops, max_ops, ..*one } == *other
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= JSON_ERROR * other.abs()
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
