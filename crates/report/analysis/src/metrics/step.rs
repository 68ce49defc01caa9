//! All metrics of one step.

use model::{DataShape, Readings, Settings, StepRecord, float, metric};

use super::operations::{bytes_put, ratio, set_failed, set_per_op, set_per_row_put};
use super::{
    cpu, hardware, io, layers, open_loop, reads, server, settle, throughput, times, written,
};

/// Returns the derived metrics of one step.
///
/// Source: formulas as in the meanings of `model::metric::METRICS`; stall share as in RocksDB's
/// benchmark.sh (stall micros / wall time), write amplification as [RocksDB Tuning Guide].
pub fn step_metrics(step: &StepRecord, data: &DataShape) -> Readings {
    let mut metrics = Readings::new();
    throughput::set(step, &mut metrics);
    set_failed(step, &mut metrics);
    let unavailable = step.events.iter().map(|event| event.unavailable().as_secs_f64());
    let unavailable = (!step.events.is_empty()).then(|| unavailable.sum::<f64>());
    metrics.set(metric::UNAVAILABLE_S, unavailable);
    times::set(step, &mut metrics);
    open_loop::set(step, &mut metrics);
    cpu::set_per_op(step, &mut metrics);
    cpu::set_busy(step, &mut metrics);
    hardware::set(step, &mut metrics);
    set_per_op(step, &io::PER_OP, &mut metrics);
    set_per_row_put(step, &io::PER_ROW_PUT, &mut metrics);
    io::set_write_back(step, &mut metrics);
    io::set_requests(step, &mut metrics);
    server::set(step, &mut metrics);
    layers::set(step, &mut metrics);
    let maps = step.gauges_max.value(metric::UNCOUNTED_WRITE_MAPS);
    written::set_write_amplification(&step.counters, maps, bytes_put(step, data), &mut metrics);
    metrics.set(metric::SPACE_AMPLIFICATION, io::space_amplification(step, data));
    metrics.set(metric::READ_AMPLIFICATION, reads::read_amplification(step));
    reads::set(std::slice::from_ref(step), &mut metrics);
    let [cached, entries] = [metric::ENGINE_CACHE_BYTES, metric::ENGINE_CACHE_ENTRIES]
        .map(|gauge| step.gauges_end.value(gauge));
    metrics.set(metric::CACHE_BYTES_PER_ENTRY, ratio(cached, entries));
    let counters = &step.counters;
    for (share, hits, misses) in [
        (metric::CACHE_HIT_SHARE, metric::ENGINE_CACHE_HITS, metric::ENGINE_CACHE_MISSES),
        (metric::MEMTABLE_HIT_SHARE, metric::ENGINE_MEMTABLE_HITS, metric::ENGINE_MEMTABLE_MISSES),
    ] {
        metrics.set(share, ratio(counters.value(hits), counters.sum(&[hits, misses])));
    }
    let counted_us = Some(step.counted_ns().as_micros_f64());
    let stalled = ratio(counters.value(metric::ENGINE_STALL_US), counted_us);
    // The engine's timer and ours may differ by a hair; a share above one means nothing.
    metrics.set(metric::STALL_SHARE, stalled.map(|share| share.min(1.0)));
    settle::set(step, &mut metrics);
    // A client's memory is not its server's.
    let resident = step.gauges_max.value(metric::RSS_BYTES);
    let resident = resident.filter(|_| !server::is_of_server(step));
    metrics.set(metric::RSS_PEAK_BYTES, resident);
    metrics.set(metric::WRITER_BYTES_PER_S, step.writer_bytes_per_s);
    metrics
}

/// Adds the ratio of peak memory to configured cache.
///
/// Absent without a configured cache.
///
/// Source: RSS over the size of the block cache, 1.15 there [Callaghan 2022-09-19].
pub fn with_memory(mut metrics: Readings, settings: &Settings) -> Readings {
    let cache = settings.cache_bytes.map(float);
    let peak = metrics.value(metric::RSS_PEAK_BYTES);
    metrics.set(metric::RSS_PER_CACHE, ratio(peak, cache));
    metrics
}

/// Returns a step's rate metrics and its CPUs in use.
///
/// Source: as [`step_metrics`], of which they are a part.
pub fn rate_metrics(step: &StepRecord) -> Readings {
    let mut metrics = Readings::new();
    throughput::set(step, &mut metrics);
    open_loop::set(step, &mut metrics);
    cpu::set_busy(step, &mut metrics);
    metrics
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::record::SettleRecord;
    use model::{Bytes, Nanos};

    use super::*;
    use crate::primary_operations;
    use crate::testing::{DATA, load, put, readings, step};

    #[test]
    fn costs_are_divided_by_the_clients_operations_not_by_the_writers() {
        let mut step = step(0, "readwhilewriting");
        step.writers = [put(90_000)].into();
        step.counters = readings(&[
            (metric::PROCESS_CPU_USER_US, 80_000.0),
            (metric::PROCESS_CPU_KERNEL_US, 20_000.0),
            (metric::CLIENT_CPU_USER_US, 50_000.0),
            (metric::CLIENT_CPU_KERNEL_US, 10_000.0),
            (metric::HARNESS_CPU_US, 5_000.0),
            (metric::DEVICE_WRITE_BYTES, 10_000.0 * 2_048.0),
        ]);
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(primary_operations(&step), 10_000);
        assert_eq!(metrics[metric::THROUGHPUT_OPS_PER_S], 5_000.0);
        assert_eq!(metrics[metric::CPU_US_PER_OP], 10.0);
        assert_eq!(metrics[metric::CLIENT_CPU_US_PER_OP], 6.0);
        assert_eq!(metrics[metric::BACKGROUND_CPU_US_PER_OP], 3.5);
        assert_eq!(metrics[metric::KERNEL_CPU_US_PER_OP], 2.0);
        assert_eq!(metrics[metric::DEVICE_WRITE_KIB_PER_OP], 2.0);
        // What is divided by here are the 90,000 rows the writer put.
        let put = 90_000.0 * 100.0;
        assert_eq!(metrics[metric::WRITE_AMPLIFICATION_DEVICE], 20_480_000.0 / put);
    }

    #[test]
    fn what_is_not_known_is_absent_and_never_zero() {
        let mut idle = step(0, "settle");
        idle.clients.clear();
        assert_eq!(step_metrics(&idle, &DATA), Readings::new());
        let mut broken = step(0, "readrandom");
        broken.duration_ns = Nanos(0);
        broken.counters = readings(&[(metric::ENGINE_STALL_US, 5.0)]);
        let metrics = step_metrics(&broken, &DATA);
        assert!(!metrics.has(metric::THROUGHPUT_OPS_PER_S));
        assert!(!metrics.has(metric::STALL_SHARE));
        assert!(!metrics.has(metric::THROUGHPUT_P50_OPS_PER_S));
    }

    #[test]
    fn every_metric_is_in_the_models_table() {
        let mut step = load(&[
            (metric::ENGINE_CACHE_HITS, 3.0),
            (metric::ENGINE_CACHE_MISSES, 1.0),
            (metric::ENGINE_MEMTABLE_HITS, 1.0),
            (metric::ENGINE_MEMTABLE_MISSES, 3.0),
        ]);
        step.gauges_end = readings(&[(metric::DATA_DIR_BYTES, 150_000.0)]);
        step.settle = Some(SettleRecord { took_ns: Nanos::from_secs(3), ..Default::default() });
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(metrics[metric::CACHE_HIT_SHARE], 0.75);
        assert_eq!(metrics[metric::MEMTABLE_HIT_SHARE], 0.25);
        assert_eq!(metrics[metric::SPACE_AMPLIFICATION], 1.5);
        assert_eq!(metrics[metric::SETTLE_S], 3.0);
        for name in metrics.keys() {
            let metric = model::metric::find(name).unwrap();
            assert_eq!(metric.kind, model::Kind::Derived, "{name}");
        }
    }

    #[test]
    fn resident_memory_is_per_byte_of_cache() {
        let peak = || readings(&[(metric::RSS_PEAK_BYTES, 1_207_959_552.0)]);
        let settings = Settings { cache_bytes: Some(Bytes::GIB), ..Settings::default() };
        let known = with_memory(peak(), &settings);
        assert_eq!(
            known,
            readings(&[(metric::RSS_PEAK_BYTES, 1_207_959_552.0), (metric::RSS_PER_CACHE, 1.125)])
        );
        assert_eq!(with_memory(peak(), &Settings::default()), peak());
        assert_eq!(with_memory(Readings::new(), &settings), Readings::new());
    }
}
