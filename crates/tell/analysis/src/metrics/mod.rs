//! The derived metrics of `model::metric`, computed from one step or one run.
//!
//! Every cost per operation is (total over the measured span) / (primary operations). Where
//! intervals are void, rates and times come from the others; costs stay those of the whole span,
//! because counters and operations were counted over the same one. A metric whose inputs are not
//! all known is absent.
//!
//! To add one, add its formula to the file of its subject.

mod cpu;
mod io;
mod open_loop;
mod part;
mod throughput;
mod times;

use std::collections::BTreeMap;

use model::metric::Readings;
use model::record::OpCounts;
use model::{DataShape, OpKind, RunRecord, StepRecord};

pub(crate) use cpu::{client_threads, clients};
pub(crate) use open_loop::late_share;
pub use times::{Percentile, Time, Withheld, response_time, service_time};

/// Returns the operations that a step's costs are divided by.
///
/// These are the operations the measured clients did. The background writer's are not among
/// them: its work is part of what the clients' operations cost. This is the only definition.
///
/// Source: M. Callaghan, "insert benchmark" summaries, where `op` is the query in query steps and
/// the insert in load steps.
#[must_use]
pub fn primary_operations(step: &StepRecord) -> u64 {
    step.clients.values().map(|summary| summary.counts.done).sum()
}

/// Returns the bytes of keys and values that clients and background writers put.
///
/// Rows put times the bytes of a row: what the user asked to be stored, before compression.
///
/// Source: RocksDB's ticker `bytes.written`, the divisor of its write amplification; ours leaves
/// out what an engine adds to a row.
#[must_use]
pub fn bytes_put(step: &StepRecord, data: &DataShape) -> u64 {
    rows_put(step).saturating_mul(data.row_bytes())
}

/// Returns the rows that clients and background writers put.
#[must_use]
pub fn rows_put(step: &StepRecord) -> u64 {
    counts(step).filter(|(kind, _)| *kind == OpKind::Put).map(|(_, counts)| counts.rows).sum()
}

/// Returns the derived metrics of one step.
///
/// Source: formulas as in the meanings of `model::metric::METRICS`; stall share as in RocksDB's
/// benchmark.sh (stall micros / wall time), write amplification as RocksDB's tuning guide.
#[must_use]
pub fn step_metrics(step: &StepRecord, data: &DataShape) -> Readings {
    let mut metrics = Derived::default();
    throughput::set(step, &mut metrics);
    times::set(step, &mut metrics);
    open_loop::set(step, &mut metrics);
    cpu::set_per_op(step, &mut metrics);
    cpu::set_busy(step, &mut metrics);
    io::set_per_op(step, &mut metrics);
    io::set_write_amplification(&step.counters, bytes_put(step, data), &mut metrics);
    metrics.set("space_amplification", io::space_amplification(step, data));
    let counter = |name| get(&step.counters, name);
    let looked_up = sum(&[counter("engine_cache_hits"), counter("engine_cache_misses")]);
    metrics.set("cache_hit_share", ratio(counter("engine_cache_hits"), looked_up));
    let wall_us = Some(step.duration_ns.as_secs_f64() * 1e6);
    let stalled = ratio(counter("engine_stall_us"), wall_us);
    // The engine's timer and ours may differ by a hair; a share above one means nothing.
    metrics.set("stall_share", stalled.map(|share| share.min(1.0)));
    metrics.set("settle_s", step.settle.as_ref().map(|settle| settle.took_ns.as_secs_f64()));
    metrics.set("rss_peak_bytes", get(&step.gauges_max, "rss_bytes"));
    metrics.set("writer_bytes_per_s", step.writer_bytes_per_s);
    metrics.readings
}

/// Returns those of a step's metrics that are rates, and how busy the CPUs were.
pub(crate) fn rate_metrics(step: &StepRecord) -> Readings {
    let mut metrics = Derived::default();
    throughput::set(step, &mut metrics);
    open_loop::set(step, &mut metrics);
    cpu::set_busy(step, &mut metrics);
    metrics.readings
}

/// Returns the metrics that only a whole run can tell, from its steps' totals.
///
/// Deferred work is paid in later steps, so an amplification of one step flatters whoever defers
/// most. Here all bytes written in all steps are divided by all bytes put. Space amplification is
/// that at the end of the last step, peak memory the largest of the steps'.
///
/// Source: as [`step_metrics`], over the run.
#[must_use]
pub fn run_metrics(run: &RunRecord, data: &DataShape) -> Readings {
    let mut metrics = Derived::default();
    let put = run.steps.iter().map(|step| bytes_put(step, data)).sum();
    io::set_write_amplification(&totals(&run.steps), put, &mut metrics);
    let at_end = run.steps.last().and_then(|step| io::space_amplification(step, data));
    metrics.set("space_amplification", at_end);
    let peaks = run.steps.iter().filter_map(|step| get(&step.gauges_max, "rss_bytes"));
    metrics.set("rss_peak_bytes", peaks.reduce(f64::max));
    let settled = run.steps.iter().filter_map(|step| step.settle.as_ref());
    let settle_s = settled.map(|settle| settle.took_ns.as_secs_f64()).reduce(|a, b| a + b);
    metrics.set("settle_s", settle_s);
    metrics.readings
}

/// Metrics under construction: unknown and non-finite values never enter.
#[derive(Default)]
struct Derived {
    readings: Readings,
}

impl Derived {
    fn set(&mut self, name: &str, value: Option<f64>) {
        debug_assert!(model::metric::find(name).is_some(), "{name} is not in METRICS");
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.readings.insert(name.to_owned(), value);
        }
    }
}

/// Returns the counters summed over the steps; one that a step lacks is absent.
fn totals(steps: &[StepRecord]) -> Readings {
    let mut all: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for (name, value) in steps.iter().flat_map(|step| &step.counters) {
        let entry = all.entry(name.clone()).or_default();
        *entry = (entry.0 + 1, entry.1 + value);
    }
    let complete = all.into_iter().filter(|(_, (known, _))| *known == steps.len());
    complete.map(|(name, (_, total))| (name, total)).collect()
}

/// Iterates over the counts of clients and background writers.
fn counts(step: &StepRecord) -> impl Iterator<Item = (OpKind, &OpCounts)> {
    step.clients.iter().chain(&step.writers).map(|(kind, summary)| (*kind, &summary.counts))
}

/// Returns the primary operations as a divisor; `None` when there are none.
fn operations(step: &StepRecord) -> Option<f64> {
    Some(float(primary_operations(step))).filter(|ops| *ops > 0.0)
}

fn get(readings: &Readings, name: &str) -> Option<f64> {
    readings.get(name).copied()
}

/// Returns the sum when every part is known.
fn sum(parts: &[Option<f64>]) -> Option<f64> {
    parts.iter().copied().sum()
}

/// Returns the quotient when both are known and the divisor is positive.
fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole).filter(|(_, whole)| *whole > 0.0).map(|(part, whole)| part / whole)
}

#[expect(clippy::cast_precision_loss, reason = "counts and bytes stay far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::Nanos;
    use model::record::{OpSummary, SettleRecord};

    use super::*;
    use crate::sample::{DATA, readings, run, step, summary};

    fn put(done: u64) -> (OpKind, OpSummary) {
        (OpKind::Put, summary(done, done))
    }

    /// 100 rows of 100 bytes each are put: 10,000 bytes.
    fn load(counters: &[(&str, f64)]) -> StepRecord {
        let clients = [put(100)].into();
        StepRecord { clients, counters: readings(counters), ..step(0, "fillseq") }
    }

    #[test]
    fn costs_are_divided_by_the_clients_operations_not_by_the_writers() {
        let mut step = step(0, "readwhilewriting");
        step.writers = [put(90_000)].into();
        step.counters = readings(&[
            ("process_cpu_user_us", 80_000.0),
            ("process_cpu_kernel_us", 20_000.0),
            ("client_cpu_user_us", 50_000.0),
            ("client_cpu_kernel_us", 10_000.0),
            ("harness_cpu_us", 5_000.0),
            ("device_write_bytes", 10_000.0 * 2_048.0),
        ]);
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(primary_operations(&step), 10_000);
        assert_eq!(metrics["throughput_ops_per_s"], 5_000.0);
        assert_eq!(metrics["cpu_us_per_op"], 10.0);
        assert_eq!(metrics["client_cpu_us_per_op"], 6.0);
        assert_eq!(metrics["background_cpu_us_per_op"], 3.5);
        assert_eq!(metrics["kernel_cpu_us_per_op"], 2.0);
        assert_eq!(metrics["device_write_kib_per_op"], 2.0);
        // What is divided by here are the 90,000 rows the writer put.
        let put = 90_000.0 * 100.0;
        assert_eq!(metrics["write_amplification_device"], 20_480_000.0 / put);
    }

    #[test]
    fn write_amplification_counts_flush_compaction_and_blobs_once_and_the_log_apart() {
        let step = load(&[
            ("engine_flush_write_bytes", 11_000.0),
            ("engine_compaction_write_bytes", 30_000.0),
            ("engine_blob_write_bytes", 4_000.0),
            ("engine_wal_write_bytes", 12_000.0),
            ("process_write_bytes", 60_000.0),
        ]);
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(metrics["write_amplification"], 4.5);
        assert_eq!(metrics["write_amplification_with_wal"], 5.7);
        assert_eq!(metrics["write_amplification_process"], 6.0);
        assert!(!metrics.contains_key("write_amplification_device"));
    }

    #[test]
    fn a_b_tree_amplifies_by_its_pages() {
        let metrics = step_metrics(&load(&[("engine_page_write_bytes", 50_000.0)]), &DATA);
        assert_eq!(metrics["write_amplification"], 5.0);
        assert!(!metrics.contains_key("write_amplification_with_wal"));
    }

    #[test]
    fn half_of_the_writes_is_no_write_amplification() {
        let metrics = step_metrics(&load(&[("engine_flush_write_bytes", 11_000.0)]), &DATA);
        assert!(!metrics.contains_key("write_amplification"));
    }

    #[test]
    fn what_is_not_known_is_absent_and_never_zero() {
        let mut idle = step(0, "settle");
        idle.clients.clear();
        assert_eq!(step_metrics(&idle, &DATA), Readings::new());
        let mut broken = step(0, "readrandom");
        broken.duration_ns = Nanos(0);
        broken.counters = readings(&[("engine_stall_us", 5.0)]);
        let metrics = step_metrics(&broken, &DATA);
        assert!(!metrics.contains_key("throughput_ops_per_s"));
        assert!(!metrics.contains_key("stall_share"));
        assert!(!metrics.contains_key("throughput_p50_ops_per_s"));
    }

    #[test]
    fn every_metric_is_in_the_models_table() {
        let mut step = load(&[("engine_cache_hits", 3.0), ("engine_cache_misses", 1.0)]);
        step.gauges_end = readings(&[("data_dir_bytes", 150_000.0)]);
        step.settle = Some(SettleRecord { took_ns: Nanos::from_secs(3), ..Default::default() });
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(metrics["cache_hit_share"], 0.75);
        assert_eq!(metrics["space_amplification"], 1.5);
        assert_eq!(metrics["settle_s"], 3.0);
        for name in metrics.keys() {
            let metric = model::metric::find(name).unwrap();
            assert_eq!(metric.kind, model::Kind::Derived, "{name}");
        }
    }

    #[test]
    fn a_runs_write_amplification_charges_late_compaction_to_the_writes() {
        let mut run = run("a", 1, 10);
        let put = load(&[
            ("engine_flush_write_bytes", 10_000.0),
            ("engine_compaction_write_bytes", 0.0),
            ("process_write_bytes", 9_000.0),
        ]);
        let mut settle = step(1, "settle");
        settle.clients.clear();
        settle.counters = readings(&[
            ("engine_flush_write_bytes", 1_000.0),
            ("engine_compaction_write_bytes", 29_000.0),
        ]);
        settle.gauges_end = readings(&[("data_dir_bytes", 120_000.0)]);
        run.steps = vec![put, settle];
        let metrics = run_metrics(&run, &DATA);
        assert_eq!(metrics["write_amplification"], 4.0);
        assert_eq!(metrics["space_amplification"], 1.2);
        // One of the steps does not know it, so the run does not either.
        assert!(!metrics.contains_key("write_amplification_process"));
    }
}
