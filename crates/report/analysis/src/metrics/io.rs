//! Storage: requests and bytes per operation, amplifications.

use model::{DataShape, Metric, OpKind, Readings, StepRecord, float, metric};

use super::operations::{ratio, sum};
use super::server::has_server;

/// Requests and bytes of the device, and syncs, per operation.
pub(super) const PER_OP: [(Metric, Metric, f64); 5] = [
    (metric::DEVICE_READS_PER_OP, metric::DEVICE_READS, 1.0),
    (metric::DEVICE_READ_KIB_PER_OP, metric::DEVICE_READ_BYTES, 1024.0),
    (metric::DEVICE_WRITES_PER_OP, metric::DEVICE_WRITES, 1.0),
    (metric::DEVICE_WRITE_KIB_PER_OP, metric::DEVICE_WRITE_BYTES, 1024.0),
    (metric::FSYNCS_PER_OP, metric::ENGINE_FSYNCS, 1.0),
];

/// Sets the write amplifications from counters over a span in which `put` bytes were put.
///
/// - plain: (flush + compaction [+ blob files] or B-tree pages) / put. Flush and compaction are
///   separate counters; "cumulative compaction" of RocksDB's text statistics already contains
///   flush, and adding both is the error of benchmark.sh.
/// - with WAL: the same plus the log.
/// - process and device: as the kernel counts, log and file system included; the process is the one
///   that keeps the data, be it a server.
///
/// A step that puts nothing has none. An engine that reports only one of flush and compaction has
/// neither of the first two.
///
/// Source: [RocksDB Tuning Guide, "Amplification factors"].
pub(super) fn set_write_amplification(counters: &Readings, put: u64, metrics: &mut Readings) {
    let put = (put > 0).then(|| float(put));
    let merged =
        counters.sum(&[metric::ENGINE_FLUSH_WRITE_BYTES, metric::ENGINE_COMPACTION_WRITE_BYTES]);
    let pages = counters.value(metric::ENGINE_PAGE_WRITE_BYTES);
    let files = [merged, counters.value(metric::ENGINE_BLOB_WRITE_BYTES), pages];
    let known = merged.or(pages).map(|_| files.iter().flatten().sum());
    let with_wal = sum(&[known, counters.value(metric::ENGINE_WAL_WRITE_BYTES)]);
    let of_device = counters.value(metric::DEVICE_WRITE_BYTES);
    metrics.set(metric::WRITE_AMPLIFICATION, ratio(known, put));
    metrics.set(metric::WRITE_AMPLIFICATION_WITH_WAL, ratio(with_wal, put));
    metrics.set(metric::WRITE_AMPLIFICATION_PROCESS, ratio(stored_bytes(counters), put));
    metrics.set(metric::WRITE_AMPLIFICATION_DEVICE, ratio(of_device, put));
}

/// Returns the bytes written by the process that stores the data; `None` for a foreign server.
fn stored_bytes(counters: &Readings) -> Option<f64> {
    let own = || counters.value(metric::PROCESS_WRITE_BYTES).filter(|_| !has_server(counters));
    counters.value(metric::SERVER_WRITE_BYTES).or_else(own)
}

/// Returns block or page lookups per point read or range read.
///
/// A read of several keys counts as that many. Only of steps that do nothing but read: in a B-tree
/// writes do lookups too, and the engine's counter does not separate them.
///
/// Source: [RocksDB Tuning Guide, "Amplification factors"], there in reads of storage; here cache
/// hits count as well, so that the cache's size is left out.
pub(super) fn read_amplification(step: &StepRecord) -> Option<f64> {
    let keys = |kind: OpKind| match kind {
        OpKind::Get | OpKind::Scan => Some(1),
        OpKind::MultiGet => Some(u64::from(step.step.batch_keys)),
        OpKind::Put | OpKind::Delete | OpKind::Insert | OpKind::Transaction | OpKind::Define => {
            None
        }
    };
    let mut reads = 0;
    for (kind, summary) in step.clients.iter().chain(&step.writers) {
        let done = summary.counts.done;
        reads += if done == 0 { 0 } else { done * keys(*kind)? };
    }
    ratio(step.counters.value(metric::ENGINE_BLOCK_LOOKUPS), Some(float(reads)))
}

/// Returns bytes on storage at the step's end per byte of keys and values.
///
/// The bytes of keys and values are those of all rows of the experiment: the same divisor for
/// every engine, where engines' own estimates differ in what they count. After steps that leave
/// part of the rows absent (`fillrandom`, `deleterandom`) it is therefore too small.
pub(super) fn space_amplification(step: &StepRecord, data: &DataShape) -> Option<f64> {
    ratio(step.gauges_end.value(metric::DATA_DIR_BYTES), Some(float(data.live_bytes())))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::{OpKind, metric};

    use crate::step_metrics;
    use crate::testing::{DATA, load, put, readings, step, summary};

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
    fn read_amplification_counts_block_lookups() {
        let mut step = step(0, "readrandom");
        assert!(!step_metrics(&step, &DATA).has(metric::READ_AMPLIFICATION));
        step.counters = readings(&[(metric::ENGINE_BLOCK_LOOKUPS, 30_000.0)]);
        assert_eq!(step_metrics(&step, &DATA)[metric::READ_AMPLIFICATION], 3.0);
        step.clients = [(OpKind::MultiGet, summary(1_000, 10_000))].into();
        assert_eq!(step_metrics(&step, &DATA)[metric::READ_AMPLIFICATION], 3.0);
        step.writers = [put(5)].into();
        assert!(!step_metrics(&step, &DATA).has(metric::READ_AMPLIFICATION));
    }

    #[test]
    fn half_of_the_writes_is_no_write_amplification() {
        let metrics = step_metrics(&load(&[(metric::ENGINE_FLUSH_WRITE_BYTES, 11_000.0)]), &DATA);
        assert!(!metrics.has(metric::WRITE_AMPLIFICATION));
    }
}
