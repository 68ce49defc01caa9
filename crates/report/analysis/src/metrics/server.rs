//! Server metrics: cost per operation and background write rates.

use model::sql::Application;
use model::{OpKind, OpUnit, Readings, StepRecord};

use super::derived::{Derived, float, get, ratio, sum};
use super::operations::{operations, requests};

/// Share of the target rate below which background writers missed it.
///
/// Our choice: above the noise of a paced writer; the Insert Benchmark reports rate and target
/// [Callaghan 2023-01-05].
pub const RATE_SUSTAINED: f64 = 0.95;

/// Kinds of operation that only SQL servers have.
const OF_SERVERS: [OpKind; 3] = [OpKind::Insert, OpKind::Transaction, OpKind::Define];

/// Returns the server's CPU; `None` where none is known.
pub(crate) fn cpu_us(step: &StepRecord) -> Option<f64> {
    let counter = |name| get(&step.counters, name);
    sum(&[counter("server_cpu_user_us"), counter("server_cpu_kernel_us")])
}

/// Returns whether the step ran on a server, a foreign one included.
#[must_use]
pub fn is_of_server(step: &StepRecord) -> bool {
    let has = |name: &str| step.counters.contains_key(name);
    let mut kinds = step.clients.keys().chain(step.writers.keys());
    has("server_cpu_user_us")
        || has("engine_commits")
        || has("client_reconnects")
        || kinds.any(|kind| OF_SERVERS.contains(kind))
}

/// Sets the server metrics; none for embedded engines.
///
/// The server's figures are those of its control group: all of its processes. Garbage rows and
/// dirty bytes are the maximum in the step.
///
/// Source: our choice: a control group's counters include processes that exit [Linux cgroup-v2].
pub(super) fn set(step: &StepRecord, metrics: &mut Derived) {
    if !is_of_server(step) {
        return;
    }
    let ops = operations(step);
    let counter = |name| get(&step.counters, name);
    let per_op = |name| ratio(counter(name), ops);
    let kib_per_op = |name| per_op(name).map(|bytes| bytes / 1024.0);
    metrics.set("server_cpu_us_per_op", ratio(cpu_us(step), ops));
    metrics.set("server_reads_per_op", per_op("server_reads"));
    metrics.set("server_read_kib_per_op", kib_per_op("server_read_bytes"));
    metrics.set("server_writes_per_op", per_op("server_writes"));
    metrics.set("server_write_kib_per_op", kib_per_op("server_write_bytes"));
    metrics.set("server_context_switches_per_op", per_op("server_context_switches"));
    metrics.set("heap_fetches_per_op", per_op("engine_heap_fetches"));
    let (commits, syncs) = (counter("engine_commits"), counter("engine_fsyncs"));
    metrics.set("commits_per_fsync", syncs.and_then(|syncs| ratio(commits, Some(syncs))));
    let rows = step.clients.values().map(|summary| summary.counts.rows).sum();
    let rows = Some(float(rows)).filter(|_| !matches!(step.step.unit, OpUnit::Rows(_)));
    metrics.set("rows_per_op", ratio(rows, Some(float(requests(step)))));
    metrics.set("writer_rows_per_s", writer_rows_per_s(step));
    for gauge in ["engine_garbage_rows", "engine_dirty_bytes"] {
        metrics.set(gauge, get(&step.gauges_max, gauge));
    }
}

/// Returns rows written per second by the background writers; deletes do not count.
fn writer_rows_per_s(step: &StepRecord) -> Option<f64> {
    let rows = float(OpUnit::Row.done(&step.writers));
    ratio((!step.writers.is_empty()).then_some(rows), Some(step.duration_ns.as_secs_f64()))
}

/// Returns the target rate of a step's background writers, rows per second.
///
/// Source: target = clients x rate [Callaghan 2023-01-05].
#[must_use]
pub fn writer_rate_target(step: &StepRecord, application: Option<&Application>) -> Option<f64> {
    let traffic_spec = application?.steps.iter().find(|one| one.name == step.step.name)?;
    let target = traffic_spec.background.as_ref()?.rows_per_s * f64::from(step.step.clients);
    Some(target).filter(|target| *target > 0.0)
}

/// Adds the background writers' share of their target rate.
///
/// Source: as [`writer_rate_target`].
#[must_use]
pub fn with_writers(
    metrics: Readings,
    step: &StepRecord,
    application: Option<&Application>,
) -> Readings {
    let mut metrics = Derived { readings: metrics };
    let target = writer_rate_target(step, application);
    let share = target.and_then(|target| ratio(writer_rows_per_s(step), Some(target)));
    metrics.set("writer_rate_share", share);
    metrics.readings
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use super::*;
    use crate::fixture::{DATA, application, readings, step, summary};
    use crate::step_metrics;

    /// Two seconds of 10,000 queries of 10 rows by two clients, with 300 rows inserted.
    fn queries() -> StepRecord {
        let mut step = step(0, "q100");
        step.clients = [(OpKind::Scan, summary(10_000, 100_000))].into();
        step.writers =
            [(OpKind::Insert, summary(6, 300)), (OpKind::Delete, summary(6, 300))].into();
        step.counters = readings(&[
            ("process_cpu_user_us", 20_000.0),
            ("process_cpu_kernel_us", 10_000.0),
            ("client_cpu_user_us", 20_000.0),
            ("client_cpu_kernel_us", 10_000.0),
            ("server_cpu_user_us", 300_000.0),
            ("server_cpu_kernel_us", 100_000.0),
            ("server_context_switches", 20_000.0),
            ("server_reads", 5_000.0),
            ("server_read_bytes", 5_000.0 * 16_384.0),
            ("server_writes", 1_000.0),
            ("server_write_bytes", 1_000.0 * 8_192.0),
            ("engine_heap_fetches", 2_500.0),
            ("engine_commits", 12.0),
            ("engine_fsyncs", 3.0),
        ]);
        step.gauges_max = readings(&[("engine_garbage_rows", 300.0)]);
        step
    }

    #[test]
    fn server_costs_are_separate_from_the_client() {
        let metrics = step_metrics(&queries(), &DATA);
        let of = |name: &str| metrics[name];
        assert_eq!((of("server_cpu_us_per_op"), of("client_cpu_us_per_op")), (40.0, 3.0));
        assert_eq!((of("cpu_us_per_op"), of("server_context_switches_per_op")), (43.0, 2.0));
        assert_eq!((of("server_reads_per_op"), of("server_read_kib_per_op")), (0.5, 8.0));
        assert_eq!((of("server_writes_per_op"), of("server_write_kib_per_op")), (0.1, 0.8));
        assert_eq!((of("heap_fetches_per_op"), of("commits_per_fsync")), (0.25, 4.0));
        assert_eq!((of("rows_per_op"), of("writer_rows_per_s")), (10.0, 150.0));
        assert_eq!(of("engine_garbage_rows"), 300.0);
    }

    #[test]
    fn embedded_engine_has_no_server_metrics() {
        let metrics = step_metrics(&step(0, "readrandom"), &DATA);
        assert!(metrics.keys().all(|name| !name.starts_with("server_")), "{metrics:?}");
        assert!(!metrics.contains_key("rows_per_op") && !metrics.contains_key("writer_rows_per_s"));
    }

    #[test]
    fn foreign_server_has_no_cpu_per_operation() {
        let mut foreign = queries();
        foreign.counters.retain(|name, _| !name.starts_with("server_"));
        let metrics = step_metrics(&foreign, &DATA);
        assert!(!metrics.contains_key("cpu_us_per_op"), "{metrics:?}");
        assert_eq!((metrics["client_cpu_us_per_op"], metrics["rows_per_op"]), (3.0, 10.0));
    }

    #[test]
    fn writer_target_is_clients_times_rate() {
        let (step, application) = (queries(), application("q100", 100.0));
        assert_eq!(writer_rate_target(&step, Some(&application)), Some(200.0));
        let share = |application| {
            let metrics = with_writers(Readings::new(), &step, application);
            metrics.get("writer_rate_share").copied()
        };
        assert_eq!((share(Some(&application)), share(None)), (Some(0.75), None));
    }
}
