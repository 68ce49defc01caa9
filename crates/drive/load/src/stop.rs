//! Stop flags for clients, and the clients' heartbeats.

use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering};

/// Stops a running step, on a signal or at the parent's request.
///
/// Clones share one flag.
#[derive(Debug, Clone, Default)]
pub struct StopFlag {
    is_set: Arc<AtomicBool>,
}

impl StopFlag {
    /// Requests the stop: effective within 0.1 s and one operation.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }
}

/// A client's halt flag: read for each operation, written at most once.
///
/// Relaxed: it orders nothing. Tallies are handed over through a channel.
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
pub(crate) struct Heartbeat {
    ended: AtomicU64,
}

impl Heartbeat {
    pub(crate) fn publish(&self, ended: u64) {
        self.ended.store(ended, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }
}
