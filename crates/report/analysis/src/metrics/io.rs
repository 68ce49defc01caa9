//! Storage: requests and bytes per operation, amplifications.

use model::{DataShape, Metric, Readings, StepRecord, float, metric};

use super::operations::{Cost, operations, ratio, sum};

/// Requests and bytes of the device, syncs, and bytes of logs, per operation.
pub(super) const PER_OP: [Cost; 8] = [
    (metric::DEVICE_READS_PER_OP, metric::DEVICE_READS, 1.0),
    (metric::DEVICE_READ_KIB_PER_OP, metric::DEVICE_READ_BYTES, 1024.0),
    (metric::DEVICE_WRITES_PER_OP, metric::DEVICE_WRITES, 1.0),
    (metric::DEVICE_WRITE_KIB_PER_OP, metric::DEVICE_WRITE_BYTES, 1024.0),
    (metric::FSYNCS_PER_OP, metric::ENGINE_FSYNCS, 1.0),
    (metric::WAL_BYTES_PER_OP, metric::ENGINE_WAL_WRITE_BYTES, 1.0),
    (metric::WAL_PAGE_IMAGES_PER_OP, metric::ENGINE_WAL_PAGE_IMAGES, 1.0),
    (metric::BINLOG_BYTES_PER_OP, metric::ENGINE_BINLOG_WRITE_BYTES, 1.0),
];

/// Writes of the device, and those of a server, per row put.
///
/// Source: wpi and wkbpi of Insert Benchmark summaries [Callaghan 2022-11-29].
pub(super) const PER_ROW_PUT: [Cost; 4] = [
    (metric::DEVICE_WRITES_PER_ROW_PUT, metric::DEVICE_WRITES, 1.0),
    (metric::DEVICE_WRITE_KIB_PER_ROW_PUT, metric::DEVICE_WRITE_BYTES, 1024.0),
    (metric::SERVER_WRITES_PER_ROW_PUT, metric::SERVER_WRITES, 1.0),
    (metric::SERVER_WRITE_KIB_PER_ROW_PUT, metric::SERVER_WRITE_BYTES, 1024.0),
];

/// Sets times, sizes and merges of the device's requests, its queue and its busy share.
///
/// Absent where the device had no request of that kind. The busy share of a device that serves
/// several requests at once does not show how much more it could do.
///
/// Source: [iostat(1)], `r_await`, `w_await`, `f_await`, `rareq-sz`, `wareq-sz`, `%rrqm`, `%wrqm`,
/// `aqu-sz` and `%util`; ours are over the whole step instead of means of its seconds.
pub(super) fn set_requests(step: &StepRecord, metrics: &mut Readings) {
    let count = |metric| step.counters.value(metric).filter(|requests| *requests > 0.0);
    for (metric, total, requests, scale) in PER_REQUEST {
        let total = step.counters.value(total).map(|total| total / scale);
        metrics.set(metric, ratio(total, count(requests)));
    }
    for (metric, merges, requests) in MERGED {
        let merged = step.counters.value(merges);
        metrics.set(metric, ratio(merged, sum(&[merged, count(requests)])));
    }
    let has_requests =
        [metric::DEVICE_READS, metric::DEVICE_WRITES].map(count).iter().any(Option::is_some);
    let sampled_us = Some(step.sampled_ns().as_micros_f64()).filter(|_| has_requests);
    for (metric, total) in [
        (metric::DEVICE_QUEUE_LENGTH, metric::DEVICE_QUEUE_US),
        (metric::DEVICE_BUSY_SHARE, metric::DEVICE_BUSY_US),
    ] {
        metrics.set(metric, ratio(step.counters.value(total), sampled_us));
    }
}

/// Figures per request of the device: metric, total, requests, divisor of the total.
const PER_REQUEST: [(Metric, Metric, Metric, f64); 5] = [
    (metric::DEVICE_READ_AWAIT_US, metric::DEVICE_READ_US, metric::DEVICE_READS, 1.0),
    (metric::DEVICE_WRITE_AWAIT_US, metric::DEVICE_WRITE_US, metric::DEVICE_WRITES, 1.0),
    (metric::DEVICE_FLUSH_AWAIT_US, metric::DEVICE_FLUSH_US, metric::DEVICE_FLUSHES, 1.0),
    (metric::DEVICE_READ_SIZE_KIB, metric::DEVICE_READ_BYTES, metric::DEVICE_READS, 1024.0),
    (metric::DEVICE_WRITE_SIZE_KIB, metric::DEVICE_WRITE_BYTES, metric::DEVICE_WRITES, 1024.0),
];

/// Shares of merged requests: metric, merges, requests.
const MERGED: [(Metric, Metric, Metric); 2] = [
    (metric::DEVICE_READ_MERGED_SHARE, metric::DEVICE_READ_MERGES, metric::DEVICE_READS),
    (metric::DEVICE_WRITE_MERGED_SHARE, metric::DEVICE_WRITE_MERGES, metric::DEVICE_WRITES),
];

/// Returns the bytes that the engine wrote to data files; `None` where not counted.
pub(super) fn data_file_bytes(counters: &Readings) -> Option<f64> {
    let merged =
        counters.sum(&[metric::ENGINE_FLUSH_WRITE_BYTES, metric::ENGINE_COMPACTION_WRITE_BYTES]);
    let pages = counters.value(metric::ENGINE_PAGE_WRITE_BYTES);
    let files = [merged, counters.value(metric::ENGINE_BLOB_WRITE_BYTES), pages];
    merged.or(pages).map(|_| files.iter().flatten().sum())
}

/// Sets what was written back per operation, to data files and to the doublewrite buffer.
///
/// Of the step and of the settle after it: write-back is deferred, and a step that ends before a
/// checkpoint has paid for none of its own.
///
/// Source: "KB written per transaction" of page write-back, flush and compaction, doublewrite
/// included [Callaghan 2022-09-28b].
pub(super) fn set_write_back(step: &StepRecord, metrics: &mut Readings) {
    let twice = |counters: &Readings| counters.value(metric::ENGINE_DOUBLEWRITE_BYTES);
    let all = |counters: &Readings| {
        data_file_bytes(counters).map(|bytes| bytes + twice(counters).unwrap_or(0.0))
    };
    let kib_per_op = |bytes: &dyn Fn(&Readings) -> Option<f64>| {
        let settle = step.settle_counters().map_or(Some(0.0), bytes);
        let both = sum(&[bytes(&step.counters), settle]);
        ratio(both.map(|bytes| bytes / 1024.0), operations(step))
    };
    metrics.set(metric::WRITE_BACK_KIB_PER_OP, kib_per_op(&all));
    metrics.set(metric::DOUBLEWRITE_KIB_PER_OP, kib_per_op(&twice));
}

/// Returns the bytes written by the process that stores the data; `None` where not counted.
///
/// Where a control group does not count what the kernel writes back, the pages that its processes
/// made dirty are counted, as those of a worker.
pub(super) fn stored_bytes(counters: &Readings) -> Option<f64> {
    let dirtied = || counters.value(metric::SERVER_DIRTIED_BYTES);
    of_store(counters, metric::SERVER_WRITE_BYTES, metric::PROCESS_WRITE_BYTES).or_else(dirtied)
}

/// Returns the bytes read by the process that stores the data; `None` where not counted.
pub(super) fn read_bytes(counters: &Readings) -> Option<f64> {
    of_store(counters, metric::SERVER_READ_BYTES, metric::PROCESS_READ_BYTES)
}

/// Returns the server's counter, or that of the worker where no server is.
pub(super) fn of_store(counters: &Readings, of_server: Metric, of_worker: Metric) -> Option<f64> {
    let own = || counters.value(of_worker).filter(|_| !counters.has_server());
    counters.value(of_server).or_else(own)
}

/// Share of what the rows compress to below which they are not on storage but in memory.
///
/// Our choice: far below what deleted rows and a better compression explain.
const STORED_FROM: f64 = 0.1;

/// Returns bytes on storage at the step's end, its settle included, per byte of keys and values.
///
/// `None` while hardly anything is on storage: the rows are in the engine's memory then, and what
/// they will take is not known. `None` too after a step that adds rows: how many is not recorded.
///
/// The bytes of keys and values are those of all rows of the experiment: the same divisor for
/// every engine, where engines' own estimates differ in what they count. After steps that leave
/// part of the rows absent (`fillrandom`, `deleterandom`) it is therefore too small.
pub(super) fn space_amplification(step: &StepRecord, data: &DataShape) -> Option<f64> {
    let gauges = Some(step.final_gauges()).filter(|_| !step.step.adds_rows());
    let stored = gauges.and_then(|gauges| gauges.value(metric::DATA_DIR_BYTES));
    ratio(stored, Some(float(data.live_bytes())))
        .filter(|space| *space >= STORED_FROM * data.compressible_to)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::record::{SettleRecord, SettleSpan};
    use model::{OpKind, OpUnit, metric};

    use crate::step_metrics;
    use crate::testing::{DATA, load, readings, summary};

    #[test]
    fn write_amplification_counts_flush_compaction_and_blobs_once_and_the_log_apart() {
        let step = load(&[
            (metric::ENGINE_FLUSH_WRITE_BYTES, 11_000.0),
            (metric::ENGINE_COMPACTION_WRITE_BYTES, 30_000.0),
            (metric::ENGINE_BLOB_WRITE_BYTES, 4_000.0),
            (metric::ENGINE_WAL_WRITE_BYTES, 12_000.0),
            (metric::PROCESS_WRITE_BYTES, 60_000.0),
        ]);
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(metrics[metric::WRITE_AMPLIFICATION], 4.5);
        assert_eq!(metrics[metric::WRITE_AMPLIFICATION_WITH_WAL], 5.7);
        assert_eq!(metrics[metric::WRITE_AMPLIFICATION_PROCESS], 6.0);
        assert!(!metrics.has(metric::WRITE_AMPLIFICATION_DEVICE));
    }

    #[test]
    fn a_b_tree_amplifies_by_its_pages() {
        let metrics = step_metrics(&load(&[(metric::ENGINE_PAGE_WRITE_BYTES, 50_000.0)]), &DATA);
        assert_eq!(metrics[metric::WRITE_AMPLIFICATION], 5.0);
        assert!(!metrics.has(metric::WRITE_AMPLIFICATION_WITH_WAL));
    }

    #[test]
    fn bytes_that_are_not_written_yet_are_no_amplification() {
        let nothing = [
            metric::ENGINE_FLUSH_WRITE_BYTES,
            metric::ENGINE_COMPACTION_WRITE_BYTES,
            metric::ENGINE_WAL_WRITE_BYTES,
            metric::PROCESS_WRITE_BYTES,
            metric::DEVICE_WRITE_BYTES,
        ];
        let mut step = load(&nothing.map(|counter| (counter, 0.0)));
        let of_data = |bytes: f64, step: &mut model::StepRecord| {
            step.gauges_end = readings(&[(metric::DATA_DIR_BYTES, bytes)]);
            step_metrics(step, &DATA)
        };
        let metrics = of_data(4_999.0, &mut step);
        let is_of_kind =
            |name: &&String| name.contains("amplification") || name.contains("byte_put");
        assert_eq!(metrics.keys().find(is_of_kind), None, "{metrics:?}");
        assert_eq!(of_data(5_000.0, &mut step)[metric::SPACE_AMPLIFICATION], 0.05);
    }

    /// Goal: what an update costs in logs and in write-back is per operation, the doublewrite
    /// buffer in the second; what a server does not count stays absent.
    #[test]
    fn logs_and_write_back_are_costs_of_an_operation() {
        let innodb = load(&[
            (metric::ENGINE_WAL_WRITE_BYTES, 51_200.0),
            (metric::ENGINE_BINLOG_WRITE_BYTES, 30_000.0),
            (metric::ENGINE_PAGE_WRITE_BYTES, 1_638_400.0),
            (metric::ENGINE_DOUBLEWRITE_BYTES, 1_638_400.0),
        ]);
        let metrics = step_metrics(&innodb, &DATA);
        assert_eq!(metrics[metric::WAL_BYTES_PER_OP], 512.0);
        assert_eq!(metrics[metric::BINLOG_BYTES_PER_OP], 300.0);
        assert_eq!(metrics[metric::DOUBLEWRITE_KIB_PER_OP], 16.0);
        assert_eq!(metrics[metric::WRITE_BACK_KIB_PER_OP], 32.0);
        assert_eq!(metrics[metric::WRITE_AMPLIFICATION], 163.84);
        assert!(!metrics.has(metric::WAL_PAGE_IMAGES_PER_OP));
        let mut settled = innodb;
        let span = SettleSpan {
            counters: readings(&[
                (metric::ENGINE_PAGE_WRITE_BYTES, 819_200.0),
                (metric::ENGINE_DOUBLEWRITE_BYTES, 0.0),
            ]),
            ..SettleSpan::default()
        };
        let span = Some(Box::new(span));
        settled.settle = Some(SettleRecord { span, ..SettleRecord::default() });
        let metrics = step_metrics(&settled, &DATA);
        assert_eq!(metrics[metric::WRITE_BACK_KIB_PER_OP], 40.0, "the settle's included");
        assert_eq!(metrics[metric::WAL_BYTES_PER_OP], 512.0);
        let only_twice = load(&[(metric::ENGINE_DOUBLEWRITE_BYTES, 1_638_400.0)]);
        assert!(!step_metrics(&only_twice, &DATA).has(metric::WRITE_BACK_KIB_PER_OP));
        let postgres = load(&[(metric::ENGINE_WAL_PAGE_IMAGES, 150.0)]);
        assert_eq!(step_metrics(&postgres, &DATA)[metric::WAL_PAGE_IMAGES_PER_OP], 1.5);
    }

    /// Goal: next to queries too, writes are divided by the rows put, and by no query.
    #[test]
    fn writes_are_per_row_put_where_rows_are_put() {
        let mut step = load(&[
            (metric::DEVICE_WRITES, 300.0),
            (metric::DEVICE_WRITE_BYTES, 300.0 * 8_192.0),
            (metric::SERVER_WRITES, 150.0),
            (metric::SERVER_WRITE_BYTES, 150.0 * 8_192.0),
        ]);
        step.clients = [(OpKind::Scan, summary(10_000, 100_000))].into();
        step.writers =
            [(OpKind::Insert, summary(6, 300)), (OpKind::Delete, summary(6, 300))].into();
        let metrics = step_metrics(&step, &DATA);
        for (metric, value) in [
            (metric::DEVICE_WRITES_PER_ROW_PUT, 1.0),
            (metric::DEVICE_WRITE_KIB_PER_ROW_PUT, 8.0),
            (metric::SERVER_WRITES_PER_ROW_PUT, 0.5),
            (metric::SERVER_WRITE_KIB_PER_ROW_PUT, 4.0),
            (metric::DEVICE_WRITES_PER_OP, 0.03),
        ] {
            assert_eq!(metrics.value(metric), Some(value), "{metric}");
        }
        step.writers.clear();
        assert!(!step_metrics(&step, &DATA).has(metric::DEVICE_WRITES_PER_ROW_PUT));
        step.step.unit = OpUnit::Rows(600);
        assert_eq!(step_metrics(&step, &DATA)[metric::DEVICE_WRITES_PER_ROW_PUT], 0.5);
    }

    /// Goal: the device's figures are iostat's, over the step, and absent without a request.
    #[test]
    fn requests_have_the_times_sizes_and_queue_of_iostat() {
        let mut step = load(&[
            (metric::DEVICE_READS, 400.0),
            (metric::DEVICE_READ_MERGES, 100.0),
            (metric::DEVICE_READ_BYTES, 400.0 * 8_192.0),
            (metric::DEVICE_READ_US, 100_000.0),
            (metric::DEVICE_WRITES, 0.0),
            (metric::DEVICE_WRITE_MERGES, 0.0),
            (metric::DEVICE_WRITE_BYTES, 0.0),
            (metric::DEVICE_WRITE_US, 0.0),
            (metric::DEVICE_FLUSHES, 10.0),
            (metric::DEVICE_FLUSH_US, 30_000.0),
            (metric::DEVICE_QUEUE_US, 4_000_000.0),
            (metric::DEVICE_BUSY_US, 500_000.0),
        ]);
        step.counters.set(metric::HOST_SAMPLED_US, Some(2_000_000.0));
        let metrics = step_metrics(&step, &DATA);
        for (metric, value) in [
            (metric::DEVICE_READ_AWAIT_US, 250.0),
            (metric::DEVICE_READ_SIZE_KIB, 8.0),
            (metric::DEVICE_READ_MERGED_SHARE, 0.2),
            (metric::DEVICE_FLUSH_AWAIT_US, 3_000.0),
            (metric::DEVICE_QUEUE_LENGTH, 2.0),
            (metric::DEVICE_BUSY_SHARE, 0.25),
        ] {
            assert_eq!(metrics.value(metric), Some(value), "{metric}");
        }
        for absent in [
            metric::DEVICE_WRITE_AWAIT_US,
            metric::DEVICE_WRITE_SIZE_KIB,
            metric::DEVICE_WRITE_MERGED_SHARE,
        ] {
            assert!(!metrics.has(absent), "{absent}");
        }
        step.counters.set(metric::DEVICE_READS, Some(0.0));
        let idle = step_metrics(&step, &DATA);
        assert!(!idle.has(metric::DEVICE_QUEUE_LENGTH) && !idle.has(metric::DEVICE_BUSY_SHARE));
    }

    #[test]
    fn half_of_the_writes_is_no_write_amplification() {
        let metrics = step_metrics(&load(&[(metric::ENGINE_FLUSH_WRITE_BYTES, 11_000.0)]), &DATA);
        assert!(!metrics.has(metric::WRITE_AMPLIFICATION));
    }
}
