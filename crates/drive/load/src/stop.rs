//! Telling clients to stop, and clients telling that they are alive.

use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering};

/// Asks a running step to stop: set by whoever hears the user or the parent process.
///
/// Clones share one flag.
#[derive(Debug, Clone, Default)]
pub struct StopFlag {
    is_set: Arc<AtomicBool>,
}

impl StopFlag {
    /// Asks for the stop; heeded within a tenth of a second and one operation.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was asked for.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }
}

/// What one client reads for each operation, written by the coordinator at most once.
///
/// Relaxed: it orders nothing. What a client did is handed over through a channel.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Halt {
    is_halted: AtomicBool,
}

impl Halt {
    pub(crate) fn halt(&self) {
        self.is_halted.store(true, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn is_halted(&self) -> bool {
        self.is_halted.load(Ordering::Relaxed)
    }
}

/// How many operations one client has ended, published a few times per second.
///
/// Alone on its pair of cache lines, so that publishing disturbs no other client.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Pulse {
    ended: AtomicU64,
}

impl Pulse {
    pub(crate) fn publish(&self, ended: u64) {
        self.ended.store(ended, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }
}
