//! Readings from an open database.

use std::sync::{Arc, PoisonError};

use model::metric::Readings;
use model::{Durability, EngineState};

use crate::events::Totals;
use crate::feature;
use crate::instance::RocksEngine;
use crate::perf::{Blobs, Counted, Sum};
use crate::statistics;
use crate::written::Written;

/// Counters of one session, held until the database closes.
pub(crate) struct SessionCounts {
    /// Bytes it wrote.
    pub(crate) written: Arc<Written>,
    /// Counters of its perf context, if any.
    pub(crate) counted: Option<Arc<Counted>>,
}

/// Background work as the engine reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// Flushes and compactions that run.
    pub(crate) running: u64,
    /// Those that wait.
    pub(crate) waiting: u64,
    /// Pending compaction bytes.
    pub(crate) debt: u64,
}

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
        set(readings, "engine_flush_write_bytes", Some(totals.flush_write));
        set(readings, "engine_compaction_write_bytes", Some(totals.compaction_write));
        set(readings, "engine_compaction_read_bytes", Some(totals.compaction_read));
        set(readings, "engine_blob_write_bytes", Some(totals.blob_write));
    }

    /// Adds bytes written by all sessions; without a WAL, 0 bytes of WAL.
    pub(crate) fn take_written(&self, readings: &mut Readings) {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let ingest = sessions.iter().map(|session| session.written.ingest()).sum();
        let batches = sessions.iter().map(|session| session.written.batch()).sum();
        let wal = if self.durability == Durability::None { 0 } else { batches };
        set(readings, "engine_ingest_bytes", Some(ingest));
        set(readings, "engine_wal_write_bytes", Some(wal));
    }

    pub(crate) fn take_gauges(&self, readings: &mut Readings) {
        set(readings, "engine_cache_bytes", self.number("block-cache-usage"));
        set(readings, "engine_memtable_bytes", self.number("size-all-mem-tables"));
        let blobs = self.number("total-blob-file-size").unwrap_or(0);
        let tables = self.number("total-sst-files-size");
        set(readings, "engine_disk_bytes", tables.map(|tables| tables + blobs));
        // The estimate covers table files only.
        let live = self.number("estimate-live-data-size").filter(|_| blobs == 0);
        set(readings, "engine_live_bytes", live);
    }

    /// Adds the number, bytes and garbage bytes of blob files.
    pub(crate) fn take_blobs(&self, readings: &mut Readings) {
        if !self.is_separated {
            return;
        }
        set(readings, "engine_blob_files", self.number("num-blob-files"));
        set(readings, "engine_blob_bytes", self.number("total-blob-file-size"));
        let garbage = self.number("live-blob-file-garbage-size").or_else(|| {
            statistics::blob_garbage_bytes(&self.db.text("rocksdb.blob-stats").unwrap_or_default())
        });
        set(readings, "engine_blob_garbage_bytes", garbage);
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
            set(own, &format!("rocksdb.{property}"), self.number(property));
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
        set(readings, "engine_debt_bytes", Some(work.debt));
        set(readings, "engine_background_jobs", Some(work.running + work.waiting));
    }

    /// Adds stalls and, if enabled, tickers.
    pub(crate) fn take_counters(&self, cfstats: &str, state: &mut EngineState) {
        if let Some(stalls) = statistics::stalls(cfstats) {
            set(&mut state.readings, "engine_stalls", Some(stalls.total));
            for (name, count) in stalls.causes {
                set(&mut state.own_counters, &name, Some(count));
            }
        }
        let dbstats = self.db.text("rocksdb.dbstats").unwrap_or_default();
        set(&mut state.readings, "engine_stall_us", statistics::stall_us(&dbstats));
        let Some(text) = self.db.statistics() else { return };
        let tickers = statistics::tickers(&text);
        for (name, ticker) in [
            ("engine_cache_hits", "rocksdb.block.cache.hit"),
            ("engine_cache_misses", "rocksdb.block.cache.miss"),
            // Exact where writes of several clients share one batch.
            ("engine_wal_write_bytes", "rocksdb.wal.bytes"),
        ] {
            if let Some(count) = tickers.get(ticker) {
                state.readings.insert(name.to_owned(), *count);
            }
        }
        state.own_counters.extend(tickers);
    }
}

/// Adds a reading if it is known.
#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
pub(crate) fn set(readings: &mut Readings, name: &str, value: Option<u64>) {
    if let Some(value) = value {
        readings.insert(name.to_owned(), value as f64);
    }
}
