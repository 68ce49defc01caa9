//! CPU: cost per operation, CPUs in use, run-queue share.

use model::{ProfileTarget, Readings, StepRecord, metric};

use super::operations::{clients, operations, per_op, ratio, sum};
use super::server;

/// Sets CPU and context switches per operation.
///
/// Process = client and background writer threads (both counted as client) + engine's own threads +
/// the harness's collector, so the engine's own threads are what remains; those of a server are in
/// the server. Kernel CPU is part of each of these, not a fourth summand. A server is not part of
/// the worker and is added to the whole.
pub(super) fn set_per_op(step: &StepRecord, metrics: &mut Readings) {
    let (counters, ops) = (&step.counters, operations(step));
    let process = counters.sum(&metric::PROCESS_CPU_US);
    let client = counters.sum(&metric::CLIENT_CPU_US);
    // Three clocks are read one after another: a difference below zero is their distance, and one
    // below a microsecond rounding.
    let background = process
        .zip(sum(&[client, counters.value(metric::HARNESS_CPU_US)]))
        .map(|(process, others)| (process - others).max(0.0).round())
        .filter(|_| !server::is_of_server(step));
    let switches = [metric::CONTEXT_SWITCHES_VOLUNTARY, metric::CONTEXT_SWITCHES_INVOLUNTARY];
    metrics.set(metric::CPU_US_PER_OP, ratio(whole(step, counters), ops));
    metrics.set(metric::CLIENT_CPU_US_PER_OP, ratio(client, ops));
    metrics.set(metric::BACKGROUND_CPU_US_PER_OP, ratio(background, ops));
    metrics.set(metric::KERNEL_CPU_US_PER_OP, per_op(step, metric::PROCESS_CPU_KERNEL_US));
    metrics.set(metric::CONTEXT_SWITCHES_PER_OP, ratio(counters.sum(&switches), ops));
}

/// Returns the CPU of worker and server among counters of a step or of its settle.
///
/// `None` when the server's is unknown.
pub(crate) fn whole(step: &StepRecord, counters: &Readings) -> Option<f64> {
    let process = counters.sum(&metric::PROCESS_CPU_US);
    match counters.sum(&metric::SERVER_CPU_US) {
        Some(server) => process.map(|process| process + server),
        None => process.filter(|_| !server::is_of_server(step)),
    }
}

/// Returns the CPU per operation that the samples of a process divide; `None` where it is unknown.
///
/// It is user CPU where the kernel was not sampled.
pub(crate) fn target_cpu(step: &StepRecord, target: ProfileTarget) -> Option<f64> {
    let all = match target {
        ProfileTarget::Worker => metric::PROCESS_CPU_US,
        ProfileTarget::Server => metric::SERVER_CPU_US,
    };
    let sampled = if is_user_only(step, target) { &all[..1] } else { &all };
    ratio(step.counters.sum(sampled), operations(step))
}

/// Returns whether the profile of a target has no time in the kernel.
pub(crate) fn is_user_only(step: &StepRecord, target: ProfileTarget) -> bool {
    step.profile(target).is_some_and(|one| model::profile::is_user_only(&one.event))
}

/// Sets the CPUs in use and the clients' run-queue share.
///
/// The run-queue time is that of the measured clients' threads, without background writers.
pub(super) fn set_busy(step: &StepRecord, metrics: &mut Readings) {
    let counters = &step.counters;
    let counted_us = step.counted_ns().as_micros_f64();
    metrics.set(metric::BUSY_THREADS, ratio(whole(step, counters), Some(counted_us)));
    let clients_us = f64::from(measured_threads(step)) * step.duration_ns.as_micros_f64();
    let waited_us = counters.value(metric::CLIENT_RUN_QUEUE_US);
    metrics.set(metric::RUN_QUEUE_SHARE, ratio(waited_us, Some(clients_us)));
}

/// Returns the threads that execute operations: clients and background writers.
///
/// A key-value step has one writer in all; an application has one for each client, or more.
pub(crate) fn client_threads(step: &StepRecord) -> u32 {
    let writers = if step.step.writer_bytes_per_s.is_some() {
        1
    } else if step.writers.is_empty() {
        0
    } else {
        clients(step)
    };
    measured_threads(step) + writers
}

/// Returns the threads of the measured clients in the step's own span.
pub(crate) fn measured_threads(step: &StepRecord) -> u32 {
    step.step.threads(clients(step))
}

/// Returns user and kernel CPU of the measured clients, in microseconds.
///
/// That of background writers, counted among it, is taken out again: they do as much next to fast
/// queries as next to slow ones.
pub fn client_cpu(step: &StepRecord) -> [Option<f64>; 2] {
    let counter = |metric| step.counters.value(metric);
    let has_writer = step.step.writer_bytes_per_s.is_some() || !step.writers.is_empty();
    let of_writer = |metric| counter(metric).or_else(|| (!has_writer).then_some(0.0));
    let less_writer = |all, writer| Some(counter(all)? - of_writer(writer)?);
    [
        less_writer(metric::CLIENT_CPU_USER_US, metric::WRITER_CPU_USER_US),
        less_writer(metric::CLIENT_CPU_KERNEL_US, metric::WRITER_CPU_KERNEL_US),
    ]
}

#[cfg(test)]
mod tests {
    use model::validity::{SearchRecord, SearchResult};
    use model::{Bytes, Load};

    use super::*;
    use crate::step_metrics;
    use crate::testing::{DATA, readings, step};

    #[test]
    fn busy_threads_are_cpus_in_use_and_waiting_is_a_share_of_the_clients_time() {
        let mut step = step(0, "readwhilewriting");
        step.step.writer_bytes_per_s = Some(Bytes(1_000));
        step.counters = readings(&[
            (metric::PROCESS_CPU_USER_US, 2_500_000.0),
            (metric::PROCESS_CPU_KERNEL_US, 500_000.0),
            (metric::CLIENT_RUN_QUEUE_US, 600_000.0),
        ]);
        let metrics = step_metrics(&step, &DATA);
        // Two seconds; two clients, and a writer that is not among them.
        assert_eq!((metrics[metric::BUSY_THREADS], metrics[metric::RUN_QUEUE_SHARE]), (1.5, 0.15));
        step.step.connections = 3;
        assert!((step_metrics(&step, &DATA)[metric::RUN_QUEUE_SHARE] - 0.05).abs() < 1e-9);
        assert_eq!(client_threads(&step), 7);
        let server =
            [(metric::SERVER_CPU_USER_US, 600_000.0), (metric::SERVER_CPU_KERNEL_US, 200_000.0)];
        step.counters.extend(readings(&server));
        assert!((step_metrics(&step, &DATA)[metric::BUSY_THREADS] - 1.9).abs() < 1e-9);
    }

    #[test]
    fn a_search_for_clients_measured_as_many_as_it_found() {
        let mut step = step(0, "readrandom");
        step.step.load = Load::FindClients;
        step.step.clients = 64;
        step.search = Some(SearchRecord {
            limit: None,
            probes: Vec::new(),
            found: Some(SearchResult { ops_per_s: 1.0, failed_ops_per_s: None, clients: 12 }),
            ended: "throughput grew no more".to_owned(),
            is_path_dependent: false,
        });
        assert_eq!(client_threads(&step), 12);
    }
}
