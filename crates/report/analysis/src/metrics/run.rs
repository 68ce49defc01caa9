//! Metrics of whole runs.

use std::collections::BTreeMap;

use model::{DataShape, Metric, Readings, RunRecord, StepRecord, metric};

use super::operations::bytes_put;
use super::server::is_of_server;
use super::{io, reads, written};

/// Returns the metrics of a whole run, from its steps' totals.
///
/// Deferred work is paid in later steps, so an amplification of one step flatters engines that
/// defer most. Here all bytes written in all steps are divided by all bytes put. Space
/// amplification is that at the end of the last step, peak memory the largest of the steps'.
/// Settles are part of the run, and so is what the sync after the last step wrote to storage:
/// without it, as in older records, what reached the device is not known. What reads cost is of the
/// steps that only read.
///
/// Source: as [`crate::step_metrics`], over the run.
pub fn run_metrics(run: &RunRecord, data: &DataShape) -> Readings {
    let mut metrics = Readings::new();
    let put = run.steps.iter().map(|step| bytes_put(step, data)).sum();
    written::set_write_amplification(&totals(&run.steps), maps(&run.steps), put, &mut metrics);
    let has_added = run.steps.iter().any(|step| step.step.adds_rows());
    let last = run.steps.last().filter(|_| !has_added);
    let at_end = last.and_then(|step| io::space_amplification(step, data));
    metrics.set(metric::SPACE_AMPLIFICATION, at_end);
    reads::set(&run.steps, &mut metrics);
    metrics.set(metric::READ_AMPLIFICATION, reads::lookups_per_point_read(&run.steps));
    // A client's memory is not its server's.
    let is_served = run.steps.iter().any(is_of_server);
    let own = run.steps.iter().filter(|_| !is_served);
    let gauges = own.flat_map(|step| [&step.gauges_max, step.final_gauges()]);
    let peaks = gauges.filter_map(|gauges| gauges.value(metric::RSS_BYTES));
    metrics.set(metric::RSS_PEAK_BYTES, peaks.reduce(f64::max));
    let settled = run.steps.iter().filter_map(|step| step.settle.as_ref());
    let settle_s = settled.map(|settle| settle.took_ns.as_secs_f64()).reduce(|a, b| a + b);
    metrics.set(metric::SETTLE_S, settle_s);
    metrics
}

/// What reaches the device after the write calls that caused it: complete once it is synced.
const WRITTEN_BACK: [Metric; 2] = [metric::DEVICE_WRITE_BYTES, metric::SERVER_WRITE_BYTES];

/// Returns the most maps for writing that the engine had at the end of a step.
fn maps(steps: &[StepRecord]) -> Option<f64> {
    let maps = steps.iter().map(|step| step.gauges_max.value(metric::UNCOUNTED_WRITE_MAPS));
    maps.collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::max)
}

/// Returns the counters summed over steps and settles; one that any of them lacks is absent.
///
/// What is written back includes the syncs after the steps, and is absent without the last one.
fn totals(steps: &[StepRecord]) -> Readings {
    let settles = steps.iter().filter(|step| !step.clients.is_empty());
    let settles = settles.filter_map(StepRecord::settle_counters);
    let spans: Vec<&Readings> = steps.iter().map(|step| &step.counters).chain(settles).collect();
    let mut all: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for (name, value) in spans.iter().copied().flatten() {
        let entry = all.entry(name.clone()).or_default();
        *entry = (entry.0 + 1, entry.1 + value);
    }
    let complete = all.into_iter().filter(|(_, (known, _))| *known == spans.len());
    let mut totals: Readings = complete.map(|(name, (_, total))| (name, total)).collect();
    let is_synced = steps.last().is_some_and(|step| step.synced.is_some());
    for metric in WRITTEN_BACK {
        let synced = steps.iter().filter_map(|step| step.synced.as_ref()?.value(metric));
        if let Some(total) = totals.remove(metric.name).filter(|_| is_synced) {
            totals.set(metric, total + synced.sum::<f64>());
        }
    }
    totals
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use super::*;
    use crate::step_metrics;
    use crate::testing::{DATA, load, readings, run, step};

    #[test]
    fn a_runs_write_amplification_charges_late_compaction_to_the_writes() {
        let mut run = run("a", 1, 10);
        let put = load(&[
            (metric::ENGINE_FLUSH_WRITE_BYTES, 10_000.0),
            (metric::ENGINE_COMPACTION_WRITE_BYTES, 0.0),
            (metric::PROCESS_WRITE_BYTES, 9_000.0),
        ]);
        let mut settle = step(1, "settle");
        settle.clients.clear();
        settle.counters = readings(&[
            (metric::ENGINE_FLUSH_WRITE_BYTES, 1_000.0),
            (metric::ENGINE_COMPACTION_WRITE_BYTES, 29_000.0),
        ]);
        settle.gauges_end = readings(&[(metric::DATA_DIR_BYTES, 120_000.0)]);
        run.steps = vec![put, settle];
        let metrics = run_metrics(&run, &DATA);
        assert_eq!(metrics[metric::WRITE_AMPLIFICATION], 4.0);
        assert_eq!(metrics[metric::SPACE_AMPLIFICATION], 1.2);
        // One of the steps does not know it, so the run does not either.
        assert!(!metrics.has(metric::WRITE_AMPLIFICATION_PROCESS));
    }

    /// Goal: a run's write calls are those of all steps, and one map for writing is one for all.
    #[test]
    fn run_that_once_wrote_through_a_map_has_a_lower_bound() {
        let mut run = run("a", 1, 10);
        let step = |maps: f64| {
            let mut step = load(&[(metric::PROCESS_WRITE_CALL_BYTES, 200_000.0)]);
            step.gauges_max.set(metric::UNCOUNTED_WRITE_MAPS, maps);
            step
        };
        let written = [metric::BYTES_WRITTEN_PER_BYTE_PUT, metric::BYTES_WRITTEN_PER_BYTE_PUT_MIN];
        let mut of = |steps: Vec<StepRecord>| {
            run.steps = steps;
            written.map(|metric| run_metrics(&run, &DATA).value(metric))
        };
        assert_eq!(of(vec![step(0.0), step(0.0)]), [Some(20.0), None]);
        assert_eq!(of(vec![step(1.0), step(0.0)]), [None, Some(20.0)]);
        let older = load(&[(metric::PROCESS_WRITE_CALL_BYTES, 200_000.0)]);
        assert_eq!(of(vec![step(0.0), older]), [None, None]);
    }

    /// Goal: what the device got is whole only after a sync, which counts for the run alone.
    #[test]
    fn sync_after_the_last_step_counts_for_the_run() {
        let mut run = run("a", 1, 10);
        run.steps = vec![load(&[(metric::DEVICE_WRITE_BYTES, 4_000.0)])];
        assert!(!run_metrics(&run, &DATA).has(metric::WRITE_AMPLIFICATION_DEVICE));
        run.steps[0].synced = Some(readings(&[(metric::DEVICE_WRITE_BYTES, 21_000.0)]));
        assert_eq!(run_metrics(&run, &DATA)[metric::WRITE_AMPLIFICATION_DEVICE], 2.5);
        let of_step = step_metrics(&run.steps[0], &DATA);
        assert_eq!(of_step[metric::WRITE_AMPLIFICATION_DEVICE], 0.4);
    }

    #[test]
    fn a_run_with_added_rows_has_no_space_amplification() {
        let mut run = run("a", 1, 10);
        let mut last = step(1, "ycsb-f");
        last.gauges_end = readings(&[(metric::DATA_DIR_BYTES, 120_000.0)]);
        run.steps = vec![step(0, "fillseq"), last.clone()];
        assert!(run_metrics(&run, &DATA).has(metric::SPACE_AMPLIFICATION));
        run.steps = vec![step(0, "ycsb-e"), last];
        assert!(!run_metrics(&run, &DATA).has(metric::SPACE_AMPLIFICATION));
    }
}
