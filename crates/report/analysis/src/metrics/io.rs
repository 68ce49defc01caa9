//! Storage: requests and bytes per operation, amplifications.

use model::{DataShape, OpKind, Readings, StepRecord};

use super::derived::{Derived, float, get, ratio, sum};
use super::operations::operations;

/// Sets requests and bytes of the device, and syncs, per operation.
pub(super) fn set_per_op(step: &StepRecord, metrics: &mut Derived) {
    let ops = operations(step);
    let per_op = |name| ratio(get(&step.counters, name), ops);
    let kib_per_op = |name| per_op(name).map(|bytes| bytes / 1024.0);
    metrics.set("device_reads_per_op", per_op("device_reads"));
    metrics.set("device_read_kib_per_op", kib_per_op("device_read_bytes"));
    metrics.set("device_writes_per_op", per_op("device_writes"));
    metrics.set("device_write_kib_per_op", kib_per_op("device_write_bytes"));
    metrics.set("fsyncs_per_op", per_op("engine_fsyncs"));
}

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
pub(super) fn set_write_amplification(counters: &Readings, put: u64, metrics: &mut Derived) {
    let put = (put > 0).then(|| float(put));
    let counter = |name| get(counters, name);
    let merged =
        sum(&[counter("engine_flush_write_bytes"), counter("engine_compaction_write_bytes")]);
    let pages = counter("engine_page_write_bytes");
    let files = [merged, counter("engine_blob_write_bytes"), pages];
    let known = merged.or(pages).map(|_| files.iter().flatten().sum());
    metrics.set("write_amplification", ratio(known, put));
    let with_wal = sum(&[known, counter("engine_wal_write_bytes")]);
    metrics.set("write_amplification_with_wal", ratio(with_wal, put));
    metrics.set("write_amplification_process", ratio(stored_bytes(counters), put));
    metrics.set("write_amplification_device", ratio(counter("device_write_bytes"), put));
}

/// Returns the bytes written by the process that stores the data; `None` for a foreign server.
fn stored_bytes(counters: &Readings) -> Option<f64> {
    let is_served = ["server_cpu_user_us", "engine_commits", "client_reconnects"]
        .iter()
        .any(|name| counters.contains_key(*name));
    let own = || get(counters, "process_write_bytes").filter(|_| !is_served);
    get(counters, "server_write_bytes").or_else(own)
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
    ratio(get(&step.counters, "engine_block_lookups"), Some(float(reads)))
}

/// Returns bytes on storage at the step's end per byte of keys and values.
///
/// The bytes of keys and values are those of all rows of the experiment: the same divisor for
/// every engine, where engines' own estimates differ in what they count. After steps that leave
/// part of the rows absent (`fillrandom`, `deleterandom`) it is therefore too small.
pub(super) fn space_amplification(step: &StepRecord, data: &DataShape) -> Option<f64> {
    ratio(get(&step.gauges_end, "data_dir_bytes"), Some(float(data.live_bytes().0)))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::OpKind;

    use crate::fixture::{DATA, load, put, readings, step, summary};
    use crate::step_metrics;

    #[test]
    fn write_amplification_counts_flush_compaction_and_blobs_once_and_the_log_apart() {
        let step = load(&[
            ("engine_flush_write_bytes", 11_000.0),
            ("engine_compaction_write_bytes", 30_000.0),
            ("engine_blob_write_bytes", 4_000.0),
            ("engine_wal_write_bytes", 12_000.0),
            ("process_write_bytes", 60_000.0),
        ]);
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(metrics["write_amplification"], 4.5);
        assert_eq!(metrics["write_amplification_with_wal"], 5.7);
        assert_eq!(metrics["write_amplification_process"], 6.0);
        assert!(!metrics.contains_key("write_amplification_device"));
    }

    #[test]
    fn a_b_tree_amplifies_by_its_pages() {
        let metrics = step_metrics(&load(&[("engine_page_write_bytes", 50_000.0)]), &DATA);
        assert_eq!(metrics["write_amplification"], 5.0);
        assert!(!metrics.contains_key("write_amplification_with_wal"));
    }

    #[test]
    fn read_amplification_counts_block_lookups() {
        let mut step = step(0, "readrandom");
        assert!(!step_metrics(&step, &DATA).contains_key("read_amplification"));
        step.counters = readings(&[("engine_block_lookups", 30_000.0)]);
        assert_eq!(step_metrics(&step, &DATA)["read_amplification"], 3.0);
        step.clients = [(OpKind::MultiGet, summary(1_000, 10_000))].into();
        assert_eq!(step_metrics(&step, &DATA)["read_amplification"], 3.0);
        step.writers = [put(5)].into();
        assert!(!step_metrics(&step, &DATA).contains_key("read_amplification"));
    }

    #[test]
    fn half_of_the_writes_is_no_write_amplification() {
        let metrics = step_metrics(&load(&[("engine_flush_write_bytes", 11_000.0)]), &DATA);
        assert!(!metrics.contains_key("write_amplification"));
    }
}
