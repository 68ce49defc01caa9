//! Readings from an open database.

use std::sync::PoisonError;

use model::{Durability, EngineState, Readings, metric};

use crate::activity::Work;
use crate::events::Totals;
use crate::feature;
use crate::instance::RocksEngine;
use crate::perf::{Blobs, Sum};
use crate::statistics;

impl RocksEngine {
    pub(crate) fn number(&self, property: &str) -> Option<u64> {
        self.db.number(&format!("rocksdb.{property}"))
    }

    /// Returns the background work; `None` when the release does not report it.
    pub(crate) fn work(&self) -> Option<Work> {
        let running =
            self.number("num-running-flushes")? + self.number("num-running-compactions")?;
        let waiting =
            self.number("mem-table-flush-pending")? + self.number("compaction-pending")?;
        Some(Work { running, waiting, debt: self.number("estimate-pending-compaction-bytes")? })
    }

    pub(crate) fn take_totals(&self, totals: Totals, readings: &mut Readings) {
        readings.set(metric::ENGINE_FLUSH_WRITE_BYTES, totals.flush_write);
        readings.set(metric::ENGINE_COMPACTION_WRITE_BYTES, totals.compaction_write);
        readings.set(metric::ENGINE_COMPACTION_READ_BYTES, totals.compaction_read);
        readings.set(metric::ENGINE_BLOB_WRITE_BYTES, totals.blob_write);
    }

    /// Adds bytes written by all sessions; without a WAL, 0 bytes of WAL.
    pub(crate) fn take_written(&self, readings: &mut Readings) {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let ingest: u64 = sessions.iter().map(|session| session.written.ingest()).sum();
        let batches = sessions.iter().map(|session| session.written.batch()).sum();
        let wal = if self.durability == Durability::None { 0 } else { batches };
        readings.set(metric::ENGINE_INGEST_BYTES, ingest);
        readings.set(metric::ENGINE_WAL_WRITE_BYTES, wal);
    }

    pub(crate) fn take_gauges(&self, readings: &mut Readings) {
        readings.set(metric::ENGINE_CACHE_BYTES, self.number("block-cache-usage"));
        readings.set(metric::ENGINE_MEMTABLE_BYTES, self.number("size-all-mem-tables"));
        let blobs = self.number("total-blob-file-size").unwrap_or(0);
        let tables = self.number("total-sst-files-size");
        readings.set(metric::ENGINE_DISK_BYTES, tables.map(|tables| tables + blobs));
        // The estimate covers table files only.
        let live = self.number("estimate-live-data-size").filter(|_| blobs == 0);
        readings.set(metric::ENGINE_LIVE_BYTES, live);
    }

    /// Adds the number, bytes and garbage bytes of blob files.
    pub(crate) fn take_blobs(&self, readings: &mut Readings) {
        if !self.is_separated {
            return;
        }
        readings.set(metric::ENGINE_BLOB_FILES, self.number("num-blob-files"));
        readings.set(metric::ENGINE_BLOB_BYTES, self.number("total-blob-file-size"));
        let garbage = self.number("live-blob-file-garbage-size").or_else(|| {
            statistics::blob_garbage_bytes(&self.db.text("rocksdb.blob-stats").unwrap_or_default())
        });
        readings.set(metric::ENGINE_BLOB_GARBAGE_BYTES, garbage);
    }

    /// Adds the usage of the caches, under the engine's names.
    pub(crate) fn take_caches(&self, own: &mut Readings) {
        for property in [
            "block-cache-capacity",
            "block-cache-pinned-usage",
            "blob-cache-capacity",
            "blob-cache-usage",
            "blob-cache-pinned-usage",
        ] {
            own.extend([(format!("rocksdb.{property}"), self.number(property))]);
        }
    }

    /// Adds the perf counters of all sessions.
    pub(crate) fn take_perf(&self, state: &mut EngineState) {
        if !self.has_perf_context {
            return;
        }
        let mut sum = Sum::default();
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.iter().filter_map(|session| session.counted.as_ref()).for_each(|it| sum.add(it));
        let blobs = match (self.db.api.has(feature::BLOB_COUNTS_MARK), self.is_separated) {
            (true, _) => Blobs::Counted,
            (false, true) => Blobs::Uncounted,
            (false, false) => Blobs::Absent,
        };
        let (readings, own) = (&mut state.readings, &mut state.own_counters);
        sum.report(blobs, readings, own);
    }

    pub(crate) fn take_work(&self, work: Work, readings: &mut Readings) {
        readings.set(metric::ENGINE_DEBT_BYTES, work.debt);
        readings.set(metric::ENGINE_BACKGROUND_JOBS, work.running + work.waiting);
    }

    /// Adds stalls and, if enabled, tickers.
    pub(crate) fn take_counters(&self, cfstats: &str, state: &mut EngineState) {
        if let Some(stalls) = statistics::stalls(cfstats) {
            state.readings.set(metric::ENGINE_STALLS, stalls.total);
            state.own_counters.extend(stalls.causes);
        }
        let dbstats = self.db.text("rocksdb.dbstats").unwrap_or_default();
        state.readings.set(metric::ENGINE_STALL_US, statistics::stall_us(&dbstats));
        let Some(text) = self.db.statistics() else { return };
        let tickers = statistics::tickers(&text);
        for (name, ticker) in [
            (metric::ENGINE_CACHE_HITS, "rocksdb.block.cache.hit"),
            (metric::ENGINE_CACHE_MISSES, "rocksdb.block.cache.miss"),
            // Exact where writes of several clients share one batch.
            (metric::ENGINE_WAL_WRITE_BYTES, "rocksdb.wal.bytes"),
        ] {
            state.readings.set(name, tickers.get(ticker).copied());
        }
        state.own_counters.extend(tickers);
    }
}
