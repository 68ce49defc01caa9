//! All metrics of one step.

use model::{DataShape, Readings, StepRecord};

use super::derived::{Derived, get, ratio, sum};
use super::operations::bytes_put;
use super::{cpu, io, open_loop, server, throughput, times};

/// Returns the derived metrics of one step.
///
/// Source: formulas as in the meanings of `model::metric::METRICS`; stall share as in RocksDB's
/// benchmark.sh (stall micros / wall time), write amplification as [RocksDB Tuning Guide].
#[must_use]
pub fn step_metrics(step: &StepRecord, data: &DataShape) -> Readings {
    let mut metrics = Derived::default();
    throughput::set(step, &mut metrics);
    times::set(step, &mut metrics);
    open_loop::set(step, &mut metrics);
    cpu::set_per_op(step, &mut metrics);
    cpu::set_busy(step, &mut metrics);
    io::set_per_op(step, &mut metrics);
    server::set(step, &mut metrics);
    io::set_write_amplification(&step.counters, bytes_put(step, data), &mut metrics);
    metrics.set("space_amplification", io::space_amplification(step, data));
    metrics.set("read_amplification", io::read_amplification(step));
    let counter = |name| get(&step.counters, name);
    let lookups = sum(&[counter("engine_cache_hits"), counter("engine_cache_misses")]);
    metrics.set("cache_hit_share", ratio(counter("engine_cache_hits"), lookups));
    let wall_us = Some(step.duration_ns.as_secs_f64() * 1e6);
    let stalled = ratio(counter("engine_stall_us"), wall_us);
    // The engine's timer and ours may differ by a hair; a share above one means nothing.
    metrics.set("stall_share", stalled.map(|share| share.min(1.0)));
    metrics.set("settle_s", step.settle.as_ref().map(|settle| settle.took_ns.as_secs_f64()));
    // A client's memory is not its server's.
    let resident = get(&step.gauges_max, "rss_bytes").filter(|_| !server::is_of_server(step));
    metrics.set("rss_peak_bytes", resident);
    metrics.set("writer_bytes_per_s", step.writer_bytes_per_s);
    metrics.readings
}

/// Returns a step's rate metrics and its CPUs in use.
pub(crate) fn rate_metrics(step: &StepRecord) -> Readings {
    let mut metrics = Derived::default();
    throughput::set(step, &mut metrics);
    open_loop::set(step, &mut metrics);
    cpu::set_busy(step, &mut metrics);
    metrics.readings
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::Nanos;
    use model::record::SettleRecord;

    use super::*;
    use crate::fixture::{DATA, load, put, readings, step};
    use crate::primary_operations;

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
}
