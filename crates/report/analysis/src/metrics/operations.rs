//! Operations, rows and bytes, and costs per operation: unknown in, unknown out.

use model::record::{FailureClass, IntervalRecord, OpCounts, total_counts};
use model::{DataShape, Metric, OpKind, OpUnit, Readings, Step, StepRecord, float, metric};

/// Returns the operations that a step's costs and rates are divided by.
///
/// The operations of the measured clients, in the step's unit: requests, or rows where a statement
/// writes a hundred. Background writers' are excluded: their work is part of the cost of the
/// clients' operations. This is the only definition.
///
/// Source: as in Insert Benchmark summaries, where `op` is the query in query steps and the insert
/// in load steps [Callaghan 2022-11-29].
pub fn primary_operations(step: &StepRecord) -> u64 {
    step.step.unit.done(&step.clients)
}

/// Returns an interval's operations in the step's unit.
///
/// In requests where only the whole step is a number of rows.
pub fn interval_operations(step: &Step, interval: &IntervalRecord) -> u64 {
    match step.unit {
        OpUnit::Operation | OpUnit::Rows(_) => OpUnit::Operation.done(&interval.clients),
        OpUnit::Row => OpUnit::Row.done(&interval.clients),
    }
}

/// Returns the requests of the measured clients, whatever the step's unit.
///
/// The divisor of costs per request: times, and the client's own work.
pub fn requests(step: &StepRecord) -> u64 {
    OpUnit::Operation.done(&step.clients)
}

/// Metric of each class of failed operations.
const FAILED: [(FailureClass, Metric); 11] = [
    (FailureClass::LostConnection, metric::FAILED_LOST_CONNECTION_OPS),
    (FailureClass::Deadlock, metric::FAILED_DEADLOCK_OPS),
    (FailureClass::Serialisation, metric::FAILED_SERIALISATION_OPS),
    (FailureClass::Timeout, metric::FAILED_TIMEOUT_OPS),
    (FailureClass::Constraint, metric::FAILED_CONSTRAINT_OPS),
    (FailureClass::Refused, metric::FAILED_REFUSED_OPS),
    (FailureClass::NoAnswer, metric::FAILED_NO_ANSWER_OPS),
    (FailureClass::StartingUp, metric::FAILED_STARTING_UP_OPS),
    (FailureClass::ShuttingDown, metric::FAILED_SHUTTING_DOWN_OPS),
    (FailureClass::DiskFull, metric::FAILED_DISK_FULL_OPS),
    (FailureClass::Other, metric::FAILED_OTHER_OPS),
];

/// Sets the failed operations of the measured clients, in all and by class.
///
/// Nothing where none failed; no classes where the record has none.
pub(super) fn set_failed(step: &StepRecord, metrics: &mut Readings) {
    let total = total_counts(&step.clients);
    if total.failed == 0 {
        return;
    }
    metrics.set(metric::FAILED_OPS, float(total.failed));
    if total.failures.is_empty() {
        return;
    }
    let is_shown = |class: &FailureClass| !class.is_of_outage() || total.failures.of(*class) > 0;
    for (class, metric) in FAILED.into_iter().filter(|(class, _)| is_shown(class)) {
        metrics.set(metric, float(total.failures.of(class)));
    }
    metrics.set(metric::REPLACING_OPS, float(total.replacing));
}

/// Returns the bytes of keys and values put, background writers included.
///
/// Rows put times the bytes of a row, before compression. Rows whose keys the server assigns differ
/// in length: of these the bytes of their values. Of a part of a value that was
/// written: its key and the bytes of the part.
///
/// Source: RocksDB's ticker `bytes.written`, the divisor of its write amplification [RocksDB Tuning
/// Guide]; ours leaves out what an engine adds to a row.
pub fn bytes_put(step: &StepRecord, data: &DataShape) -> u64 {
    let bytes = |(kind, counts): (OpKind, &OpCounts)| match kind {
        OpKind::Put => counts.rows.saturating_mul(data.row_bytes()),
        OpKind::Insert | OpKind::PartialUpdate | OpKind::Append => counts.bytes,
        OpKind::Get
        | OpKind::Delete
        | OpKind::Scan
        | OpKind::MultiGet
        | OpKind::Transaction
        | OpKind::Define
        | OpKind::FieldRead
        | OpKind::ScanSequence => 0,
    };
    counts(step).map(bytes).fold(0, u64::saturating_add)
}

/// Returns the rows that clients and background writers put or inserted.
///
/// Of an index build the rows indexed. This is the only definition of what is divided by where a
/// figure is per row put.
///
/// Source: as [`primary_operations`], where writes are those of an insert in query steps too.
pub fn rows_put(step: &StepRecord) -> u64 {
    if matches!(step.step.unit, OpUnit::Rows(_)) {
        return primary_operations(step);
    }
    let is_put = |kind: OpKind| matches!(kind, OpKind::Put | OpKind::Insert);
    counts(step).filter(|(kind, _)| is_put(*kind)).map(|(_, counts)| counts.rows).sum()
}

/// Iterates over the counts of clients and background writers.
pub(super) fn counts(step: &StepRecord) -> impl Iterator<Item = (OpKind, &OpCounts)> {
    step.clients.iter().chain(&step.writers).map(|(kind, summary)| (*kind, &summary.counts))
}

/// Returns the primary operations as a divisor; `None` when there are none.
pub(super) fn operations(step: &StepRecord) -> Option<f64> {
    Some(float(primary_operations(step))).filter(|ops| *ops > 0.0)
}

/// Returns the sum when every part is known.
pub(super) fn sum(parts: &[Option<f64>]) -> Option<f64> {
    parts.iter().copied().sum()
}

/// Returns the quotient when both are known and the divisor is positive.
pub(crate) fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole).filter(|(_, whole)| *whole > 0.0).map(|(part, whole)| part / whole)
}

/// Returns a counter's growth per operation, when both are known.
pub fn per_op(step: &StepRecord, counter: Metric) -> Option<f64> {
    ratio(step.counters.value(counter), operations(step))
}

/// A cost: its metric, the counter whose growth it is, and a divisor of that.
pub(super) type Cost = (Metric, Metric, f64);

/// Sets costs per operation.
pub(super) fn set_per_op(step: &StepRecord, costs: &[Cost], metrics: &mut Readings) {
    set_per(step, operations(step), costs, metrics);
}

/// Sets costs per row put; none in a step that puts no rows.
pub(super) fn set_per_row_put(step: &StepRecord, costs: &[Cost], metrics: &mut Readings) {
    set_per(step, Some(float(rows_put(step))), costs, metrics);
}

fn set_per(step: &StepRecord, whole: Option<f64>, costs: &[Cost], metrics: &mut Readings) {
    for (cost, counter, divisor) in costs {
        let growth = ratio(step.counters.value(*counter), whole);
        metrics.set(*cost, growth.map(|growth| growth / divisor));
    }
}

/// Returns the measured clients of the step's own span.
///
/// A search for clients starts with the largest number; its span has the best one.
pub(crate) fn clients(step: &StepRecord) -> u32 {
    let found = step.search.as_ref().and_then(|search| search.found);
    found.map_or(step.step.clients, |found| found.clients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step_metrics;
    use crate::testing::{DATA, put, readings, step, summary};

    /// Goal: failures are counted by class; a record of an earlier version has the total alone.
    #[test]
    fn failed_operations_are_counted_by_class() {
        let mut step = step(0, "readrandom");
        let failing = |step: &StepRecord| {
            let metrics = step_metrics(step, &DATA);
            let names = metrics.keys().filter(|name| name.contains("failed"));
            (names.count(), metrics.value(metric::FAILED_OPS))
        };
        assert_eq!(failing(&step), (0, None));
        let counts = &mut step.clients.values_mut().next().unwrap().counts;
        counts.failed = 3;
        assert_eq!(failing(&step), (1, Some(3.0)));
        let counts = &mut step.clients.values_mut().next().unwrap().counts;
        counts.failures.add(FailureClass::Deadlock);
        counts.failures.add(FailureClass::Deadlock);
        counts.failures.add(FailureClass::LostConnection);
        counts.replacing = 2;
        assert_eq!(failing(&step), (7, Some(3.0)));
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(metrics.value(metric::FAILED_DEADLOCK_OPS), Some(2.0));
        assert_eq!(metrics.value(metric::FAILED_TIMEOUT_OPS), Some(0.0));
        assert_eq!(metrics.value(metric::REPLACING_OPS), Some(2.0));
    }

    /// Two seconds in which a client inserted 10 x 100 rows and deleted as many, with a writer that
    /// inserted 50.
    fn inserts(unit: OpUnit) -> StepRecord {
        let mut step = step(0, "l.i1");
        step.step.unit = unit;
        step.clients =
            [(OpKind::Insert, summary(10, 1_000)), (OpKind::Delete, summary(10, 1_000))].into();
        step.writers = [(OpKind::Insert, summary(1, 50))].into();
        step.counters = readings(&[
            (metric::PROCESS_CPU_USER_US, 1_000.0),
            (metric::PROCESS_CPU_KERNEL_US, 500.0),
            (metric::SERVER_CPU_USER_US, 3_000.0),
            (metric::SERVER_CPU_KERNEL_US, 500.0),
        ]);
        step
    }

    #[test]
    fn costs_and_rates_are_those_of_the_step_s_unit() {
        let of = |unit| {
            let metrics = step_metrics(&inserts(unit), &DATA);
            (metrics[metric::THROUGHPUT_OPS_PER_S], metrics[metric::CPU_US_PER_OP])
        };
        assert_eq!(of(OpUnit::Operation), (10.0, 250.0));
        assert_eq!(of(OpUnit::Row), (500.0, 5.0));
        assert_eq!(of(OpUnit::Rows(50_000)), (25_000.0, 0.1));
        assert_eq!(requests(&inserts(OpUnit::Row)), 20);
    }

    #[test]
    fn inserted_rows_are_put_with_the_bytes_that_were_sent_and_deleted_rows_are_not() {
        let mut step = inserts(OpUnit::Row);
        assert_eq!((rows_put(&step), bytes_put(&step, &DATA)), (1_050, 105_000));
        step.clients = [put(10)].into();
        assert_eq!((rows_put(&step), bytes_put(&step, &DATA)), (60, 6_000));
        step.step.unit = OpUnit::Rows(500);
        assert_eq!(rows_put(&step), 500, "the rows that an index is built over");
    }
}
