//! Metrics of whole runs.

use std::collections::BTreeMap;

use model::{DataShape, Readings, RunRecord, StepRecord, metric};

use super::operations::bytes_put;
use super::server::is_of_server;
use super::{io, reads};

/// Returns the metrics of a whole run, from its steps' totals.
///
/// Deferred work is paid in later steps, so an amplification of one step flatters engines that
/// defer most. Here all bytes written in all steps are divided by all bytes put. Space
/// amplification is that at the end of the last step, peak memory the largest of the steps'.
/// Settles are part of the run. What reads cost is of the steps that only read.
///
/// Source: as [`crate::step_metrics`], over the run.
pub fn run_metrics(run: &RunRecord, data: &DataShape) -> Readings {
    let mut metrics = Readings::new();
    let put = run.steps.iter().map(|step| bytes_put(step, data)).sum();
    io::set_write_amplification(&totals(&run.steps), put, &mut metrics);
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

/// Returns the counters summed over steps and settles; one that any of them lacks is absent.
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
    complete.map(|(name, (_, total))| (name, total)).collect()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use super::*;
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
