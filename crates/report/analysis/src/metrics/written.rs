//! Bytes that an engine wrote, whatever the page cache made of them.

use model::{Readings, float, metric};

use super::io::{data_file_bytes, of_store, stored_bytes};
use super::operations::{ratio, sum};

/// Sets the write amplifications from counters over a span in which `put` bytes were put.
///
/// - bytes written per byte put: all that the engine wrote, see [`Written`].
/// - plain: (flush + compaction [+ blob files] or B-tree pages) / put. Flush and compaction are
///   separate counters; "cumulative compaction" of RocksDB's text statistics already contains
///   flush, and adding both is the error of benchmark.sh.
/// - with WAL: the same plus the log.
/// - process and device: what reached storage, as the kernel counts, log and file system included;
///   the process is the one that keeps the data, be it a server. A page that is written several
///   times before its write-back counts once.
///
/// A step that puts nothing has none, and neither has one whose bytes were not written yet: what
/// still is in memory will be written, so 0 would be no amplification. An engine that reports only
/// one of flush and compaction has neither of the first two.
///
/// Source: [RocksDB Tuning Guide, "Amplification factors"].
pub(super) fn set_write_amplification(
    counters: &Readings,
    maps: Option<f64>,
    put: u64,
    metrics: &mut Readings,
) {
    let put = (put > 0).then(|| float(put));
    let (exact, bound) = match Written::of(counters, maps) {
        Some(Written::Exactly(bytes)) => (Some(bytes), None),
        Some(Written::AtLeast(bytes)) => (None, Some(bytes)),
        None => (None, None),
    };
    let known = data_file_bytes(counters);
    let with_wal = sum(&[known, counters.value(metric::ENGINE_WAL_WRITE_BYTES)]);
    let of_device = counters.value(metric::DEVICE_WRITE_BYTES);
    for (amplification, written) in [
        (metric::BYTES_WRITTEN_PER_BYTE_PUT, exact),
        (metric::BYTES_WRITTEN_PER_BYTE_PUT_MIN, bound),
        (metric::WRITE_AMPLIFICATION, known),
        (metric::WRITE_AMPLIFICATION_WITH_WAL, with_wal),
        (metric::WRITE_AMPLIFICATION_PROCESS, stored_bytes(counters)),
        (metric::WRITE_AMPLIFICATION_DEVICE, of_device),
    ] {
        metrics.set(amplification, ratio(written.filter(|bytes| *bytes > 0.0), put));
    }
}

/// Bytes that an engine wrote, to data files and logs.
enum Written {
    /// All of it.
    Exactly(f64),
    /// A lower bound.
    AtLeast(f64),
}

impl Written {
    /// Returns what was written over a span; `maps` are its [`metric::UNCOUNTED_WRITE_MAPS`].
    ///
    /// - The bytes of all write calls, where the engine writes by nothing else.
    /// - Else the bytes that an embedded engine's own counters have: data files and logs. Those of
    ///   servers have the log that is generated, not the blocks that are written again and again.
    /// - Else a lower bound: the largest of write calls, own counters and, of an embedded engine,
    ///   pages that storage got.
    ///
    /// `None` where `maps` is not known, as in older records, and the engine does not count.
    ///
    /// Source: [proc(5)], `/proc/pid/io`: `wchar` has what write calls got, and nothing of mapped
    /// files, AIO and `io_uring`.
    fn of(counters: &Readings, maps: Option<f64>) -> Option<Self> {
        let [of_server, of_worker] =
            [metric::SERVER_WRITE_CALL_BYTES, metric::PROCESS_WRITE_CALL_BYTES];
        let calls = maps.and(of_store(counters, of_server, of_worker));
        if maps.is_some_and(|maps| maps <= 0.0) && calls.is_some() {
            return calls.map(Self::Exactly);
        }
        let own = counted_bytes(counters);
        let is_whole = |own: &f64| calls.is_none_or(|calls| *own >= COUNTED_FROM * calls);
        let is_server = counters.has_server();
        if let Some(own) = own.filter(is_whole).filter(|_| !is_server) {
            return Some(Self::Exactly(own));
        }
        let stored = maps.and(stored_bytes(counters)).filter(|_| !is_server);
        let bounds = [calls, own, stored];
        bounds.into_iter().flatten().reduce(f64::max).map(Self::AtLeast)
    }
}

/// Share of the write calls from which an engine's own counters are complete.
///
/// Our choice: they leave out info logs and manifests. RocksDB's have 99.4 % of its write calls.
const COUNTED_FROM: f64 = 0.95;

/// Returns the bytes that the engine wrote by its own counters; `None` without data files or log.
fn counted_bytes(counters: &Readings) -> Option<f64> {
    let others = [metric::ENGINE_DOUBLEWRITE_BYTES, metric::ENGINE_BINLOG_WRITE_BYTES];
    let others: f64 = others.iter().filter_map(|other| counters.value(*other)).sum();
    let log = counters.value(metric::ENGINE_WAL_WRITE_BYTES)?;
    Some(data_file_bytes(counters)? + log + others)
}

#[cfg(test)]
mod tests {
    use model::{Metric, metric};

    use crate::step_metrics;
    use crate::testing::{DATA, load};

    /// Bytes written per byte put of these counters, and their lower bound, with so many maps.
    fn written(counters: &[(Metric, f64)], maps: Option<f64>) -> [Option<f64>; 2] {
        let mut step = load(counters);
        step.gauges_max.set(metric::UNCOUNTED_WRITE_MAPS, maps);
        let metrics = step_metrics(&step, &DATA);
        let both = [metric::BYTES_WRITTEN_PER_BYTE_PUT, metric::BYTES_WRITTEN_PER_BYTE_PUT_MIN];
        both.map(|metric| metrics.value(metric))
    }

    /// Goal: what the engine wrote is what it passed to write calls, whatever the page cache made
    /// of it; an older record, whose calls contain messages, has none.
    #[test]
    fn bytes_written_are_those_of_write_calls() {
        let absorbed =
            [(metric::PROCESS_WRITE_CALL_BYTES, 394_000.0), (metric::PROCESS_WRITE_BYTES, 1_600.0)];
        assert_eq!(written(&absorbed, Some(0.0)), [Some(39.4), None]);
        assert_eq!(written(&absorbed, None), [None, None]);
        assert_eq!(written(&[(metric::PROCESS_WRITE_CALL_BYTES, 0.0)], Some(0.0)), [None, None]);
        let rocksdb = [
            (metric::PROCESS_WRITE_CALL_BYTES, 20_500.0),
            (metric::ENGINE_FLUSH_WRITE_BYTES, 9_600.0),
            (metric::ENGINE_COMPACTION_WRITE_BYTES, 0.0),
            (metric::ENGINE_WAL_WRITE_BYTES, 11_000.0),
        ];
        assert_eq!(written(&rocksdb, Some(0.0)), [Some(2.05), None], "both count the same");
        assert_eq!(written(&rocksdb, None), [Some(2.06), None]);
    }

    /// Goal: an engine that writes by maps or AIO too has its own count, or else a lower bound.
    #[test]
    fn engine_that_writes_without_write_calls_has_its_own_count_or_a_bound() {
        let wiredtiger = [
            (metric::PROCESS_WRITE_CALL_BYTES, 11_000.0),
            (metric::PROCESS_WRITE_BYTES, 14_900.0),
            (metric::ENGINE_PAGE_WRITE_BYTES, 96_000.0),
            (metric::ENGINE_WAL_WRITE_BYTES, 11_000.0),
        ];
        assert_eq!(written(&wiredtiger, Some(4.0)), [Some(10.7), None]);
        assert_eq!(
            written(&wiredtiger[..3], Some(4.0)),
            [None, Some(1.49)],
            "its log is not known"
        );
        assert_eq!(written(&wiredtiger[..1], Some(4.0)), [None, Some(1.1)]);
        let uncounted = [(metric::PROCESS_WRITE_CALL_BYTES, 200_000.0)];
        let partly = [&uncounted, &wiredtiger[1..]].concat();
        assert_eq!(written(&partly, Some(4.0)), [None, Some(20.0)], "counters that miss writes");
        assert_eq!(written(&[], Some(1.0)), [None, None]);
    }

    /// Goal: a server's own counters are a lower bound: they have the log that it generated, and it
    /// writes whole blocks of it at each commit.
    #[test]
    fn own_counters_of_a_server_are_a_bound() {
        let innodb = [
            (metric::SERVER_CPU_USER_US, 1.0),
            (metric::ENGINE_PAGE_WRITE_BYTES, 14_000.0),
            (metric::ENGINE_DOUBLEWRITE_BYTES, 14_000.0),
            (metric::ENGINE_WAL_WRITE_BYTES, 21_000.0),
            (metric::ENGINE_BINLOG_WRITE_BYTES, 11_000.0),
            (metric::SERVER_WRITE_CALL_BYTES, 59_000.0),
        ];
        assert_eq!(written(&innodb, Some(11.0)), [None, Some(6.0)]);
        assert_eq!(written(&innodb[..5], None), [None, Some(6.0)], "its processes are not known");
        assert_eq!(written(&innodb, Some(0.0)), [Some(5.9), None], "without AIO");
    }

    /// Goal: the client of a server is no engine: its write calls are never the server's.
    #[test]
    fn write_calls_of_a_client_are_not_those_of_its_server() {
        let foreign = [(metric::PROCESS_WRITE_CALL_BYTES, 900.0), (metric::ENGINE_COMMITS, 5.0)];
        assert_eq!(written(&foreign, None), [None, None]);
        assert_eq!(written(&foreign, Some(0.0)), [None, None]);
    }
}
