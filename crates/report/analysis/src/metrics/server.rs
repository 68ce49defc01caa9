//! Server metrics: cost per operation and background write rates.

use std::collections::BTreeMap;

use model::sql::Application;
use model::{Metric, OpKind, OpUnit, Readings, StepRecord, float, metric};

use super::operations::{clients, operations, ratio, requests, set_per_op};

/// Share of the target rate below which background writers missed it.
///
/// Our choice: above the noise of a paced writer; the Insert Benchmark reports rate and target
/// [Callaghan 2023-01-05].
pub const RATE_SUSTAINED: f64 = 0.95;

/// Kinds of operation that only SQL servers have.
const OF_SERVERS: [OpKind; 3] = [OpKind::Insert, OpKind::Transaction, OpKind::Define];

/// Costs of the server per operation.
const PER_OP: [(Metric, Metric, f64); 6] = [
    (metric::SERVER_READS_PER_OP, metric::SERVER_READS, 1.0),
    (metric::SERVER_READ_KIB_PER_OP, metric::SERVER_READ_BYTES, 1024.0),
    (metric::SERVER_WRITES_PER_OP, metric::SERVER_WRITES, 1.0),
    (metric::SERVER_WRITE_KIB_PER_OP, metric::SERVER_WRITE_BYTES, 1024.0),
    (metric::SERVER_CONTEXT_SWITCHES_PER_OP, metric::SERVER_CONTEXT_SWITCHES, 1.0),
    (metric::HEAP_FETCHES_PER_OP, metric::ENGINE_HEAP_FETCHES, 1.0),
];

/// Returns whether the step ran on a server, a foreign one included.
pub fn is_of_server(step: &StepRecord) -> bool {
    let mut kinds = step.clients.keys().chain(step.writers.keys());
    step.counters.has_server() || kinds.any(|kind| OF_SERVERS.contains(kind))
}

/// Sets the server metrics; none for embedded engines.
///
/// The server's figures are those of its control group: all of its processes. Garbage rows and
/// dirty bytes are the maximum in the step.
///
/// Source: our choice: a control group's counters include processes that exit [Linux cgroup-v2].
pub(super) fn set(step: &StepRecord, metrics: &mut Readings) {
    if !is_of_server(step) {
        return;
    }
    set_per_op(step, &PER_OP, metrics);
    let cpu_us = step.counters.sum(&metric::SERVER_CPU_US);
    metrics.set(metric::SERVER_CPU_US_PER_OP, ratio(cpu_us, operations(step)));
    let [commits, syncs] =
        [metric::ENGINE_COMMITS, metric::ENGINE_FSYNCS].map(|name| step.counters.value(name));
    metrics.set(metric::COMMITS_PER_FSYNC, ratio(commits, syncs));
    let rows: u64 = step.clients.values().map(|summary| summary.counts.rows).sum();
    let rows = Some(float(rows)).filter(|_| !matches!(step.step.unit, OpUnit::Rows(_)));
    metrics.set(metric::ROWS_PER_OP, ratio(rows, Some(float(requests(step)))));
    metrics.set(metric::WRITER_ROWS_PER_S, writer_rows_per_s(step));
    for gauge in [metric::ENGINE_GARBAGE_ROWS, metric::ENGINE_DIRTY_BYTES] {
        metrics.set(gauge, step.gauges_max.value(gauge));
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
pub fn writer_rate_target(step: &StepRecord, application: Option<&Application>) -> Option<f64> {
    let traffic_spec = application?.steps.iter().find(|one| one.name == step.step.name)?;
    let target = traffic_spec.background.as_ref()?.rows_per_s * f64::from(clients(step));
    Some(target).filter(|target| *target > 0.0)
}

/// Adds the background writers' share of their target rate.
///
/// Source: as [`writer_rate_target`].
pub fn with_writers(
    mut metrics: Readings,
    step: &StepRecord,
    application: Option<&Application>,
) -> Readings {
    let target = writer_rate_target(step, application);
    let share = target.and_then(|target| ratio(writer_rows_per_s(step), Some(target)));
    let least = target.zip(application).and_then(|it| least_share(step, it.1, it.0));
    metrics.set(metric::WRITER_RATE_SHARE, share.map(|share| share.min(least.unwrap_or(share))));
    metrics
}

/// Returns the least share of its calls that a writer with a connection of its own reached.
///
/// `None` where the writers of a client share one. Calls of procedures of one kind are counted
/// together.
fn least_share(step: &StepRecord, application: &Application, target: f64) -> Option<f64> {
    let background = application.step(&step.step.name)?.background.as_ref()?;
    let connections = background.connections_per_client();
    if connections < 2 {
        return None;
    }
    let calls_per_s = target / application.rows_per_call(&background.call_mix);
    let each = calls_per_s * step.duration_ns.as_secs_f64() / f64::from(connections);
    let mut requested = BTreeMap::new();
    for at in background.call_mix.positions() {
        *requested.entry(application.procedure(at)?.kind).or_insert(0.0) += each;
    }
    let share = |(kind, requested): (OpKind, f64)| {
        let done = step.writers.get(&kind).map_or(0, |writer| writer.counts.done);
        float(done) / requested
    };
    requested.into_iter().map(share).reduce(f64::min)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::sql::{Background, CallMix, Connections, Procedure};

    use super::*;
    use crate::step_metrics;
    use crate::testing::{DATA, application, readings, step, summary};

    /// Two seconds of 10,000 queries of 10 rows by two clients, with 300 rows inserted.
    fn queries() -> StepRecord {
        let mut step = step(0, "q100");
        step.clients = [(OpKind::Scan, summary(10_000, 100_000))].into();
        step.writers =
            [(OpKind::Insert, summary(6, 300)), (OpKind::Delete, summary(6, 300))].into();
        step.counters = readings(&[
            (metric::PROCESS_CPU_USER_US, 20_000.0),
            (metric::PROCESS_CPU_KERNEL_US, 10_000.0),
            (metric::CLIENT_CPU_USER_US, 20_000.0),
            (metric::CLIENT_CPU_KERNEL_US, 10_000.0),
            (metric::SERVER_CPU_USER_US, 300_000.0),
            (metric::SERVER_CPU_KERNEL_US, 100_000.0),
            (metric::SERVER_CONTEXT_SWITCHES, 20_000.0),
            (metric::SERVER_READS, 5_000.0),
            (metric::SERVER_READ_BYTES, 5_000.0 * 16_384.0),
            (metric::SERVER_WRITES, 1_000.0),
            (metric::SERVER_WRITE_BYTES, 1_000.0 * 8_192.0),
            (metric::ENGINE_HEAP_FETCHES, 2_500.0),
            (metric::ENGINE_COMMITS, 12.0),
            (metric::ENGINE_FSYNCS, 3.0),
        ]);
        step.gauges_max = readings(&[(metric::ENGINE_GARBAGE_ROWS, 300.0)]);
        step
    }

    /// Goal: the 95 % rule is applied to inserter and deleter, where each has its connection.
    #[test]
    fn the_slower_of_two_writers_decides() {
        let mut application = application("q100", 100.0);
        let procedure = |kind| Procedure { rows: 50, ..Procedure::new("", kind) };
        application.procedures = vec![procedure(OpKind::Insert), procedure(OpKind::Delete)];
        let mut share = |connections, deletes| {
            let mut step = queries();
            // Eight calls of each in two seconds are 400 rows: 200 a second.
            step.writers = [
                (OpKind::Insert, summary(8, 400)),
                (OpKind::Delete, summary(deletes, 50 * deletes)),
            ]
            .into();
            application.steps[0].background = Some(Background {
                call_mix: CallMix::InTurn(vec![0, 1]),
                rows_per_s: 100.0,
                connections,
            });
            let known = with_writers(Readings::new(), &step, Some(&application));
            known.value(metric::WRITER_RATE_SHARE)
        };
        assert_eq!(share(Connections::One, 4), Some(1.0));
        assert_eq!(
            [share(Connections::Own, 4), share(Connections::Own, 8)],
            [Some(0.5), Some(1.0)]
        );
    }

    #[test]
    fn server_costs_are_separate_from_the_client() {
        let metrics = step_metrics(&queries(), &DATA);
        let of = |metric: Metric| metrics[metric];
        assert_eq!(
            (of(metric::SERVER_CPU_US_PER_OP), of(metric::CLIENT_CPU_US_PER_OP)),
            (40.0, 3.0)
        );
        assert_eq!(
            (of(metric::CPU_US_PER_OP), of(metric::SERVER_CONTEXT_SWITCHES_PER_OP)),
            (43.0, 2.0)
        );
        assert_eq!(
            (of(metric::SERVER_READS_PER_OP), of(metric::SERVER_READ_KIB_PER_OP)),
            (0.5, 8.0)
        );
        assert_eq!(
            (of(metric::SERVER_WRITES_PER_OP), of(metric::SERVER_WRITE_KIB_PER_OP)),
            (0.1, 0.8)
        );
        assert_eq!((of(metric::HEAP_FETCHES_PER_OP), of(metric::COMMITS_PER_FSYNC)), (0.25, 4.0));
        assert_eq!((of(metric::ROWS_PER_OP), of(metric::WRITER_ROWS_PER_S)), (10.0, 150.0));
        assert_eq!(of(metric::ENGINE_GARBAGE_ROWS), 300.0);
        assert!(!metrics.has(metric::BACKGROUND_CPU_US_PER_OP), "its threads are the server's");
    }

    #[test]
    fn embedded_engine_has_no_server_metrics() {
        let metrics = step_metrics(&step(0, "readrandom"), &DATA);
        assert!(metrics.keys().all(|name| !name.starts_with("server_")), "{metrics:?}");
        assert!(!metrics.has(metric::ROWS_PER_OP) && !metrics.has(metric::WRITER_ROWS_PER_S));
    }

    #[test]
    fn foreign_server_has_no_cpu_per_operation() {
        let mut foreign = queries();
        foreign.counters.retain(|name, _| !name.starts_with("server_"));
        let metrics = step_metrics(&foreign, &DATA);
        assert!(!metrics.has(metric::CPU_US_PER_OP), "{metrics:?}");
        assert_eq!(
            (metrics[metric::CLIENT_CPU_US_PER_OP], metrics[metric::ROWS_PER_OP]),
            (3.0, 10.0)
        );
    }

    #[test]
    fn writer_target_is_clients_times_rate() {
        let (step, application) = (queries(), application("q100", 100.0));
        assert_eq!(writer_rate_target(&step, Some(&application)), Some(200.0));
        let share = |application| {
            let metrics = with_writers(Readings::new(), &step, application);
            metrics.value(metric::WRITER_RATE_SHARE)
        };
        assert_eq!((share(Some(&application)), share(None)), (Some(0.75), None));
    }
}
