//! Readings from an open database.

use std::sync::PoisonError;

use dynlib::written::Written;
use model::{Durability, EngineState, Readings, metric};

use crate::events::Totals;
use crate::feature;
use crate::instance::RocksEngine;
use crate::statistics::Work;
use crate::{perf, statistics};

impl RocksEngine {
    fn number(&self, property: &str) -> Option<u64> {
        self.db.number(&format!("rocksdb.{property}"))
    }

    /// Returns the background work; `None` when the release does not report it.
    pub(crate) fn work(&self) -> Option<Work> {
        let sum = |one: &str, other: &str| Some(self.number(one)? + self.number(other)?);
        Some(Work {
            running: sum("num-running-flushes", "num-running-compactions")?,
            waiting: sum("mem-table-flush-pending", "compaction-pending")?,
            debt: self.number("estimate-pending-compaction-bytes")?,
        })
    }

    /// Adds what the LOG and the background work report.
    pub(crate) fn take_jobs(
        &self,
        totals: Option<Totals>,
        work: Option<Work>,
        readings: &mut Readings,
    ) {
        if let Some(totals) = totals {
            readings.extend([
                (metric::ENGINE_FLUSH_WRITE_BYTES, totals.flush_write),
                (metric::ENGINE_COMPACTION_WRITE_BYTES, totals.compaction_write),
                (metric::ENGINE_COMPACTION_READ_BYTES, totals.compaction_read),
                (metric::ENGINE_BLOB_WRITE_BYTES, totals.blob_write),
            ]);
        }
        if let Some(work) = work {
            readings.extend([
                (metric::ENGINE_DEBT_BYTES, work.debt),
                (metric::ENGINE_BACKGROUND_JOBS, work.running + work.waiting),
            ]);
        }
    }

    /// Adds what all sessions wrote and, if requested, their perf counters.
    pub(crate) fn take_sessions(&self, state: &mut EngineState) {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |of: fn(&Written) -> u64| -> u64 {
            sessions.iter().map(|(written, _)| of(written)).sum()
        };
        let logged = sum(Written::logged);
        let wal = if self.durability == Durability::None { 0 } else { logged };
        state.readings.extend([
            (metric::ENGINE_INGEST_BYTES, sum(Written::ingest)),
            (metric::ENGINE_WAL_WRITE_BYTES, wal),
        ]);
        if self.has_perf_context {
            let counts_blobs = self.db.api.has(feature::BLOB_COUNTS_MARK);
            let end = if counts_blobs { i32::MAX } else { perf::BLOB_METRICS };
            let counted = sessions.iter().filter_map(|(_, counted)| counted.as_deref());
            let (readings, own) = perf::report(counted, end, self.is_separated);
            state.readings.extend(readings);
            state.own_counters.extend(own);
        }
    }

    /// Adds sizes of files and memory, and the usage of the caches under the engine's names.
    pub(crate) fn take_gauges(&self, state: &mut EngineState) {
        let blobs = self.number("total-blob-file-size");
        let blob_bytes = blobs.unwrap_or(0);
        let tables = self.number("total-sst-files-size");
        // The estimate covers table files only.
        let live = self.number("estimate-live-data-size").filter(|_| blob_bytes == 0);
        state.readings.extend([
            (metric::ENGINE_CACHE_BYTES, self.number("block-cache-usage")),
            (metric::ENGINE_MEMTABLE_BYTES, self.number("size-all-mem-tables")),
            (metric::ENGINE_DISK_BYTES, tables.map(|tables| tables + blob_bytes)),
            (metric::ENGINE_LIVE_BYTES, live),
        ]);
        if self.is_separated {
            let garbage = self.number("live-blob-file-garbage-size");
            state.readings.extend([
                (metric::ENGINE_BLOB_FILES, self.number("num-blob-files")),
                (metric::ENGINE_BLOB_BYTES, blobs),
                (metric::ENGINE_BLOB_GARBAGE_BYTES, garbage),
            ]);
        }
        for property in [
            "block-cache-capacity",
            "block-cache-pinned-usage",
            "blob-cache-capacity",
            "blob-cache-usage",
            "blob-cache-pinned-usage",
        ] {
            state.own_counters.extend([(format!("rocksdb.{property}"), self.number(property))]);
        }
    }

    /// Adds stalls and, if enabled, tickers.
    pub(crate) fn take_counters(&self, cfstats: &str, state: &mut EngineState) {
        if let Some((total, causes)) = statistics::stalls(cfstats) {
            state.readings.set(metric::ENGINE_STALLS, total);
            state.own_counters.extend(causes);
        }
        state.readings.extend(statistics::jobs(cfstats));
        let dbstats = self.db.text("rocksdb.dbstats").unwrap_or_default();
        state.readings.set(metric::ENGINE_STALL_US, statistics::stall_us(&dbstats));
        let Some(text) = self.db.statistics() else { return };
        let tickers = statistics::tickers(&text);
        for (name, ticker) in [
            (metric::ENGINE_CACHE_HITS, "rocksdb.block.cache.hit"),
            (metric::ENGINE_CACHE_MISSES, "rocksdb.block.cache.miss"),
            (metric::ENGINE_MEMTABLE_HITS, "rocksdb.memtable.hit"),
            (metric::ENGINE_MEMTABLE_MISSES, "rocksdb.memtable.miss"),
            // Exact where writes of several clients share one batch.
            (metric::ENGINE_WAL_WRITE_BYTES, "rocksdb.wal.bytes"),
        ] {
            state.readings.set(name, tickers.get(ticker).copied());
        }
        state.own_counters.extend(tickers);
    }
}
