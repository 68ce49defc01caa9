//! Costs of a settle, apart from the costs of the step before it.

use model::{Readings, StepRecord, metric};

use super::cpu::whole;
use super::io::{read_bytes, stored_bytes};
use super::operations::{operations, ratio};

/// Sets time, CPU and storage of a settle: totals, and per operation of its step.
///
/// A step without operations has totals only. An older record of a step with operations has the
/// time only: its counters are those of step and settle together.
///
/// Source: our choice: deferred work is a cost of the operations that caused it, shown next to
/// theirs.
pub(super) fn set(step: &StepRecord, metrics: &mut Readings) {
    let Some(settle) = &step.settle else { return };
    metrics.set(metric::SETTLE_S, settle.took_ns.as_secs_f64());
    let ops = operations(step);
    metrics.set(metric::SETTLE_US_PER_OP, ratio(Some(settle.took_ns.as_micros_f64()), ops));
    let Some(counters) = step.settle_counters() else { return };
    let cpu_us = whole(step, counters);
    let (read, written) = (read_bytes(counters), stored_bytes(counters));
    metrics.set(metric::SETTLE_CPU_US, cpu_us);
    metrics.set(metric::SETTLE_READ_BYTES, read);
    metrics.set(metric::SETTLE_WRITE_BYTES, written);
    let kib = |bytes: Option<f64>| ratio(bytes.map(|bytes| bytes / 1024.0), ops);
    metrics.set(metric::SETTLE_CPU_US_PER_OP, ratio(cpu_us, ops));
    metrics.set(metric::SETTLE_READ_KIB_PER_OP, kib(read));
    metrics.set(metric::SETTLE_WRITE_KIB_PER_OP, kib(written));
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::record::{SettleRecord, SettleSpan};
    use model::{Nanos, StepRecord};

    use super::*;
    use crate::testing::{DATA, load, readings, run};
    use crate::{run_metrics, step_metrics};

    /// 100 rows put in two seconds of work, and a settle of six.
    fn settled(is_apart: bool) -> StepRecord {
        let costs = |cpu_us: f64, bytes: f64| {
            readings(&[
                (metric::PROCESS_CPU_USER_US, cpu_us),
                (metric::PROCESS_CPU_KERNEL_US, 0.0),
                (metric::PROCESS_READ_BYTES, bytes / 10.0),
                (metric::PROCESS_WRITE_BYTES, bytes),
                (metric::DEVICE_BUSY_US, cpu_us),
                (metric::ENGINE_STALL_US, cpu_us),
            ])
        };
        let (mut step, own, settle) = (load(&[]), costs(1e6, 10_240.0), costs(11e6, 102_400.0));
        let mut record = SettleRecord { took_ns: Nanos::from_secs(6), ..SettleRecord::default() };
        step.counters = own;
        step.gauges_end = readings(&[(metric::DATA_DIR_BYTES, 200_000.0)]);
        if is_apart {
            record.span = Some(Box::new(SettleSpan {
                counters: settle,
                gauges_end: readings(&[(metric::DATA_DIR_BYTES, 110_000.0)]),
                ..SettleSpan::default()
            }));
        } else {
            step.counters.merge(&settle);
        }
        step.settle = Some(record);
        step
    }

    #[test]
    fn settle_is_no_cost_of_the_step_and_has_its_own() {
        let metrics = step_metrics(&settled(true), &DATA);
        let of = |metric| metrics[metric];
        assert_eq!((of(metric::CPU_US_PER_OP), of(metric::BUSY_THREADS)), (10_000.0, 0.5));
        assert_eq!(of(metric::WRITE_AMPLIFICATION_PROCESS), 1.024);
        assert_eq!((of(metric::SETTLE_S), of(metric::SETTLE_US_PER_OP)), (6.0, 60_000.0));
        assert_eq!((of(metric::SETTLE_CPU_US), of(metric::SETTLE_CPU_US_PER_OP)), (11e6, 110e3));
        assert_eq!(
            (of(metric::SETTLE_READ_BYTES), of(metric::SETTLE_WRITE_BYTES)),
            (10_240.0, 102_400.0)
        );
        assert_eq!(of(metric::SETTLE_READ_KIB_PER_OP), 0.1);
        assert_eq!(of(metric::SETTLE_WRITE_KIB_PER_OP), 1.0);
        assert_eq!(of(metric::SPACE_AMPLIFICATION), 1.1, "after the settle");
    }

    #[test]
    fn run_pays_for_its_settles() {
        for is_apart in [true, false] {
            let mut run = run("a", 1, 10);
            run.steps = vec![settled(is_apart)];
            let metrics = run_metrics(&run, &DATA);
            assert_eq!(metrics[metric::WRITE_AMPLIFICATION_PROCESS], 11.264, "{is_apart}");
        }
    }

    /// Goal: an older record's counters are divided by the time they cover, never by less.
    #[test]
    fn older_record_is_read_as_step_and_settle_together() {
        let step = settled(false);
        assert!(step.counters_include_settle());
        let metrics = step_metrics(&step, &DATA);
        assert_eq!((metrics[metric::BUSY_THREADS], metrics[metric::STALL_SHARE]), (1.5, 1.0));
        assert!(!metrics.has(metric::SETTLE_CPU_US), "{metrics:?}");
        assert_eq!(metrics[metric::THROUGHPUT_OPS_PER_S], 50.0);
    }

    #[test]
    fn step_without_operations_has_totals_only() {
        let mut step = settled(false);
        step.clients.clear();
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(metrics[metric::SETTLE_CPU_US], 12e6);
        assert!(!metrics.has(metric::SETTLE_CPU_US_PER_OP));
    }
}
