//! A run of fio as the step of a run.

use model::record::{OpCounts, OpSummary, Percentiles};
use model::{
    IoPattern, IoSample, IoTest, IoTotals, Nanos, OpKind, Readings, Step, StepRecord, metric, whole,
};

/// Returns the record of a step: requests of fio are its operations, jobs its clients.
///
/// Of the test that syncs, an operation is a sync. The counters are those of the block layer,
/// and the CPU is that of fio.
pub fn step_record(
    index: u32,
    step: Step,
    test: IoTest,
    sample: &IoSample,
    started_at: String,
) -> StepRecord {
    let kinds = match test.pattern {
        IoPattern::Fdatasync => [(OpKind::Put, sample.sync), (OpKind::Get, None)],
        IoPattern::RandRead | IoPattern::RandWrite | IoPattern::Write | IoPattern::RandRw => {
            [(OpKind::Put, sample.write), (OpKind::Get, sample.read)]
        }
    };
    let kinds = || kinds.iter().filter_map(|(kind, totals)| Some((*kind, (*totals)?)));
    let seconds = kinds().map(|(_, of)| of.requests as f64 / of.per_s).reduce(f64::max);
    StepRecord {
        duration_ns: Nanos(whole(seconds.unwrap_or(0.0) * 1e9)),
        clients: kinds().map(|(kind, totals)| (kind, summary(&totals))).collect(),
        counters: counters(sample),
        started_at,
        role: Some(step.role(None)),
        ..StepRecord::new(index, step)
    }
}

/// Returns counts and times; fio is a closed loop, so service and response time are the same.
fn summary(of: &IoTotals) -> OpSummary {
    let others = of.others.unwrap_or_default();
    let times = Percentiles {
        count: of.requests,
        mean_ns: of.mean_ns,
        p50_ns: of.p50_ns,
        p90_ns: others.p90_ns,
        p99_ns: of.p99_ns,
        p999_ns: others.p999_ns,
        p9999_ns: others.p9999_ns,
        max_ns: others.max_ns,
    };
    let (done, bytes) = (of.requests, of.bytes);
    let counts = OpCounts { done, rows: done, bytes, ..OpCounts::default() };
    OpSummary { counts, response: times, service: times }
}

fn counters(sample: &IoSample) -> Readings {
    let mut counters = Readings::new();
    if let Some(cpu) = sample.cpu {
        counters.set(metric::PROCESS_CPU_USER_US, cpu.user_us);
        counters.set(metric::PROCESS_CPU_KERNEL_US, cpu.kernel_us);
    }
    let Some(of) = sample.issued else { return counters };
    let micros = |milliseconds: u64| milliseconds.saturating_mul(1000);
    let counted = [
        (metric::DEVICE_READS, Some(of.reads)),
        (metric::DEVICE_READ_BYTES, Some(of.read_bytes)),
        (metric::DEVICE_READ_MERGES, Some(of.read_merges)),
        (metric::DEVICE_READ_US, Some(micros(of.read_ms))),
        (metric::DEVICE_WRITES, Some(of.writes)),
        (metric::DEVICE_WRITE_BYTES, Some(of.write_bytes)),
        (metric::DEVICE_WRITE_MERGES, Some(of.write_merges)),
        (metric::DEVICE_WRITE_US, Some(micros(of.write_ms))),
        (metric::DEVICE_FLUSHES, of.flushes),
        (metric::DEVICE_FLUSH_US, of.flush_ms.map(micros)),
    ];
    for (metric, value) in counted {
        if let Some(value) = value {
            counters.set(metric, value as f64);
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use model::{IoCpu, IssuedRequests, StopRule};

    use super::*;

    #[test]
    fn requests_are_operations_and_the_block_layer_counts_for_the_device() {
        let read = IoTotals { requests: 1000, bytes: 512_000, per_s: 500.0, ..IoTotals::default() };
        let issued = IssuedRequests {
            reads: 1000,
            read_bytes: 4_096_000,
            read_ms: 80,
            ..IssuedRequests::default()
        };
        let cpu = Some(IoCpu { user_us: 1.0, kernel_us: 2.0 });
        let sample =
            IoSample { read: Some(read), issued: Some(issued), cpu, ..IoSample::default() };
        let test: IoTest = "randread-512".parse().unwrap();
        let step = Step::new(test.to_string(), StopRule::Duration(Nanos::from_secs(2)));
        let record = step_record(0, step, test, &sample, String::new());
        assert_eq!(record.duration_ns, Nanos::from_secs(2));
        assert_eq!(record.clients[&OpKind::Get].counts.done, 1000);
        assert_eq!(record.counters.value(metric::DEVICE_READ_BYTES), Some(4_096_000.0));
        assert_eq!(record.counters.value(metric::DEVICE_READ_US), Some(80_000.0));
        assert_eq!(record.counters.value(metric::DEVICE_FLUSHES), None, "unknown is absent");
        assert!(!record.role().writes());
    }

    #[test]
    fn an_operation_of_the_test_that_syncs_is_a_sync() {
        let of = |requests: u64| {
            Some(IoTotals { requests, per_s: requests as f64, ..IoTotals::default() })
        };
        let sample = IoSample { write: of(101), sync: of(100), ..IoSample::default() };
        let step = Step::new("fdatasync-4k", StopRule::Duration(Nanos::from_secs(1)));
        let record = step_record(0, step, IoTest::FDATASYNC_4K, &sample, String::new());
        assert_eq!(record.clients[&OpKind::Put].counts.done, 100);
        assert_eq!(record.clients.len(), 1);
    }
}
