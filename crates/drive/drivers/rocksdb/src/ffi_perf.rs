//! The perf context of the calling thread.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::sync::Arc;

use dynlib::Owned;

use crate::ffi::{Api, PerfHandle};
use crate::perf::Counted;

/// No counters and no timers, as in db_bench.
///
/// The library's own default counts more and costs up to 16 % of a write (measured).
/// Source: [RocksDB source] `include/rocksdb/perf_level.h`, `kDisable`.
const DISABLE: i32 = 1;
/// Counters on, timers off. Source: [RocksDB source] `include/rocksdb/perf_level.h`,
/// `kEnableCount`.
const ENABLE_COUNT: i32 = 2;
/// Operations between two publications (18 calls, about 100 ns).
const PUBLISH_EVERY: u32 = 64;

/// Sets the calling thread's counting level for a session that counts nothing.
pub(crate) fn disable(api: &Api) {
    set_level(api, DISABLE);
}

fn set_level(api: &Api, level: i32) {
    // SAFETY: sets a thread-local number.
    unsafe { (api.set_perf_level)(level) };
}

/// The perf context of the thread that made it.
pub(crate) struct PerfContext {
    api: &'static Api,
    handle: Owned<PerfHandle>,
    counted: Arc<Counted>,
    operations: u32,
}

impl PerfContext {
    /// Starts counting for the calling thread from 0, into `counted`.
    pub(crate) fn new(api: &'static Api, counted: Arc<Counted>) -> Self {
        set_level(api, ENABLE_COUNT);
        // SAFETY: both functions are of one library.
        let handle = unsafe { Owned::create(api.perfcontext_create, api.perfcontext_destroy) };
        // SAFETY: it was just created, on this thread.
        unsafe { (api.perfcontext_reset)(handle.handle) };
        Self { api, handle, counted, operations: 0 }
    }

    /// Counts an operation, and publishes periodically.
    #[inline]
    pub(crate) fn count(&mut self) {
        self.operations = self.operations.wrapping_add(1);
        if self.operations.is_multiple_of(PUBLISH_EVERY) {
            self.publish();
        }
    }

    #[cold]
    fn publish(&self) {
        // SAFETY: the handle lives; the raw pointer in it keeps the value on its thread. A number
        // that the release does not know reads 0.
        self.counted
            .publish(|number| unsafe { (self.api.perfcontext_metric)(self.handle.handle, number) });
    }
}

impl Drop for PerfContext {
    fn drop(&mut self) {
        self.publish();
    }
}
