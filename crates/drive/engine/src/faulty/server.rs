//! Simulated server of known capacity and debt.

use std::sync::{Mutex, PoisonError};

use model::Nanos;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::server_options::{ServerOptions, Throttle};

/// The server of one engine, on the kernel's clock.
pub(super) struct Server {
    queue: Mutex<Queue>,
}

impl Server {
    /// Returns an idle server with the initial debt of its options.
    pub(super) fn new(options: ServerOptions) -> Self {
        Self { queue: Mutex::new(Queue::new(options, now())) }
    }

    /// Admits one operation and waits until it is served.
    pub(super) fn serve(&self) {
        let end = self.queue.lock().unwrap_or_else(PoisonError::into_inner).admit(now());
        sleep_until(end);
    }

    /// Returns the current debt, bytes.
    pub(super) fn debt_bytes(&self) -> f64 {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).debt_bytes(now())
    }
}

/// The arithmetic of the server: one queue in order of arrival, one or several servers.
///
/// An operation ends when the server has served it, not when its client wakes up: the capacity is
/// that of the options however late sleeps end, as long as a client waits in the queue.
#[derive(Debug)]
struct Queue {
    options: ServerOptions,
    /// When each server becomes idle.
    free_at: Vec<Nanos>,
    /// Debt at `debt_at`, bytes.
    debt_bytes: f64,
    debt_at: Nanos,
}

impl Queue {
    fn new(options: ServerOptions, now: Nanos) -> Self {
        let debt_bytes = options.initial_debt.0 as f64;
        Self { options, free_at: vec![now; options.parallel], debt_bytes, debt_at: now }
    }

    /// Queues one operation and returns when it will be served.
    ///
    /// The debt at its arrival decides whether it is slowed down; then its own debt is added.
    fn admit(&mut self, now: Nanos) -> Nanos {
        let debt_bytes = self.debt_bytes(now);
        let work = match self.options.throttle {
            Some(Throttle { above, slowdown }) if debt_bytes > above.0 as f64 => {
                Nanos(self.options.work.0.saturating_mul(slowdown))
            }
            _ => self.options.work,
        };
        self.debt_bytes = debt_bytes + self.options.debt_per_op.0 as f64;
        self.debt_at = self.debt_at.max(now);
        let next = self.free_at.iter_mut().min().expect("a server has at least one");
        *next = (*next).max(now).after(work);
        *next
    }

    /// Returns the debt at `now`, bytes.
    fn debt_bytes(&self, now: Nanos) -> f64 {
        let paid = self.options.pays_per_s.0 as f64 * now.since(self.debt_at).as_secs_f64();
        (self.debt_bytes - paid).max(0.0)
    }
}

/// Returns the kernel's monotonic clock.
fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    Nanos(part(time.tv_sec) * Nanos::SECOND.0 + part(time.tv_nsec))
}

/// Sleeps until that clock shows `at`.
fn sleep_until(at: Nanos) {
    let part = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let request =
        Timespec { tv_sec: part(at.0 / Nanos::SECOND.0), tv_nsec: part(at.0 % Nanos::SECOND.0) };
    // A signal wakes the thread early; sleeping again does not help against other errors.
    while clock_nanosleep_absolute(ClockId::Monotonic, &request) == Err(rustix::io::Errno::INTR) {}
}

#[cfg(test)]
mod tests {
    use model::Bytes;
    use proptest::prelude::*;

    use super::*;

    const START: Nanos = Nanos(5_000_000_000);
    const MS: Nanos = Nanos::from_millis(1);

    fn options(work: Nanos, parallel: usize) -> ServerOptions {
        ServerOptions {
            work,
            parallel,
            debt_per_op: Bytes(0),
            initial_debt: Bytes(0),
            pays_per_s: Bytes(0),
            throttle: None,
        }
    }

    fn indebted(initial_debt: Bytes, slowdown: u64) -> Queue {
        let options = ServerOptions {
            debt_per_op: Bytes::MIB,
            initial_debt,
            pays_per_s: Bytes(100 << 20),
            throttle: Some(Throttle { above: Bytes(64 << 20), slowdown }),
            ..options(MS, 1)
        };
        Queue::new(options, START)
    }

    /// Offers `count` operations, each due as soon as it can be taken, and returns the time taken.
    fn saturate(queue: &mut Queue, count: u32) -> Nanos {
        let mut now = START;
        for _ in 0..count {
            now = queue.admit(now);
        }
        now.since(START)
    }

    #[test]
    fn idle_server_starts_at_once_and_busy_one_queues() {
        let mut queue = Queue::new(options(MS, 2), START);
        let ends: Vec<u64> = (0..5).map(|_| queue.admit(START).since(START).0).collect();
        assert_eq!(ends, [1_000_000, 1_000_000, 2_000_000, 2_000_000, 3_000_000]);
        let later = START.after(Nanos::SECOND);
        assert_eq!(queue.admit(later), later.after(MS));
    }

    #[test]
    fn debt_falls_with_time_and_never_below_zero() {
        let mut queue = indebted(Bytes(50 << 20), 4);
        let is_after = |queue: &Queue, ms, mib: f64| {
            let found = queue.debt_bytes(START.after(Nanos::from_millis(ms)));
            (found / Bytes::MIB.0 as f64 - mib).abs() < 1e-6
        };
        let spans = [(0, 50.0), (100, 40.0), (499, 0.1), (5_000, 0.0)];
        assert!(spans.into_iter().all(|(ms, mib)| is_after(&queue, ms, mib)), "{queue:?}");
        queue.admit(START.after(Nanos::SECOND));
        let spans = [(1_000, 1.0), (1_005, 0.5), (1_010, 0.0)];
        assert!(spans.into_iter().all(|(ms, mib)| is_after(&queue, ms, mib)), "{queue:?}");
    }

    /// Goal: burst and sustained capacity are those of the options.
    /// Method: 1,000/s can be served and 100/s paid for, so the debt is 64 MiB after 71 operations.
    /// A throttle to 50/s holds the debt there; one to 250/s is too weak.
    #[test]
    fn burst_is_fast_until_the_debt_reaches_its_limit() {
        assert_eq!(saturate(&mut indebted(Bytes(0), 20), 71), Nanos::from_millis(71));
        for (slowdown, sustained) in [(20, 100.0), (4, 250.0)] {
            let spans =
                [200, 20_200].map(|count| saturate(&mut indebted(Bytes(0), slowdown), count));
            let found = 20_000.0 / spans[1].since(spans[0]).as_secs_f64();
            assert!((found - sustained).abs() < 0.1, "{found} {sustained}");
        }
    }

    #[test]
    fn large_debt_slows_down_until_it_is_paid() {
        let mut queue = indebted(Bytes(100 << 20), 4);
        assert_eq!(queue.admit(START), START.after(Nanos::from_millis(4)));
        let paid = START.after(Nanos::from_millis(380));
        assert_eq!(queue.admit(paid), paid.after(MS));
    }

    proptest! {
        #[test]
        fn arrivals_below_the_capacity_do_not_wait_longer_than_one_turn(
            parallel in 1usize..5, work_us in 100u64..5_000, gaps in 1u64..200,
        ) {
            let work = Nanos(work_us * 1_000);
            let mut queue = Queue::new(options(work, parallel), START);
            // Equal gaps at or below the capacity: no operation waits.
            let gap = work.0.div_ceil(parallel as u64);
            for number in 0..gaps {
                let now = START.after(Nanos(number * gap));
                prop_assert_eq!(queue.admit(now), now.after(work));
            }
        }

        #[test]
        fn backlog_is_served_at_exactly_the_capacity(
            parallel in 1usize..5, work_us in 100u64..5_000, rounds in 1u64..50,
        ) {
            let work = Nanos(work_us * 1_000);
            let mut queue = Queue::new(options(work, parallel), START);
            let last = (0..rounds * parallel as u64).map(|_| queue.admit(START)).max();
            prop_assert_eq!(last, Some(START.after(Nanos(rounds * work.0))));
        }

        #[test]
        fn paid_rate_holds_the_debt_and_higher_one_raises_it(
            paid_for in 20u64..200, percent in 50u64..150,
        ) {
            let options = ServerOptions {
                debt_per_op: Bytes::MIB,
                pays_per_s: Bytes(paid_for << 20),
                ..options(Nanos(100_000), 1)
            };
            let mut queue = Queue::new(options, START);
            let count = 2_000;
            let gap = Nanos::SECOND.0 * 100 / (paid_for * percent);
            for number in 0..count {
                queue.admit(START.after(Nanos(number * gap)));
            }
            let now = START.after(Nanos(count * gap));
            let grown = count as f64 * (1.0 - 100.0 / percent as f64);
            let found = queue.debt_bytes(now) / Bytes::MIB.0 as f64;
            // Two operations of slack: the last one, and gaps in whole nanoseconds.
            prop_assert!((found - grown.max(0.0)).abs() <= 2.0, "{} {}", found, grown);
        }
    }

    #[test]
    fn no_operation_ends_before_the_server_has_served_it() {
        let server = Server::new(options(Nanos::from_millis(2), 1));
        let begun = now();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..5).for_each(|_| server.serve()));
            }
        });
        assert!(now().since(begun) >= Nanos::from_millis(30));
    }
}
