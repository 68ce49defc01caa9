//! A clock that tests move by hand.

use std::sync::atomic::{AtomicU64, Ordering};

use model::Nanos;

use crate::ticks::{Ticker, Ticks};
use crate::traits::Clock;

/// A clock that stands still until it is moved; waiting moves it.
#[derive(Debug, Default)]
pub struct ManualClock {
    // Not behind `crate::sync`: a model checker need not branch on reads of the time.
    now_ns: AtomicU64,
    tick_ns: u64,
}

impl ManualClock {
    /// Returns a clock that stands at `now`.
    pub const fn new(now: Nanos) -> Self {
        Self { now_ns: AtomicU64::new(now.0), tick_ns: 0 }
    }

    /// Returns a clock that moves by `tick` each time it is read.
    pub const fn ticking(now: Nanos, tick: Nanos) -> Self {
        Self { now_ns: AtomicU64::new(now.0), tick_ns: tick.0 }
    }

    /// Moves the clock forward by `span`.
    pub fn advance(&self, span: Nanos) {
        self.now_ns.fetch_add(span.0, Ordering::Relaxed);
    }
}

impl Ticker for ManualClock {
    fn ticks(&self) -> Ticks {
        Ticks(self.now_ns.fetch_add(self.tick_ns, Ordering::Relaxed))
    }
}

impl Clock for ManualClock {
    fn rest_until(&self, at: Nanos) -> Nanos {
        Nanos(self.now_ns.fetch_max(at.0, Ordering::Relaxed).max(at.0))
    }

    fn spin_until(&self, at: Nanos) -> Ticks {
        Ticks(self.rest_until(at).0)
    }

    fn wait_until(&self, at: Nanos) -> Ticks {
        self.spin_until(at)
    }

    fn margin(&self) -> Nanos {
        Nanos(0)
    }
}
