//! The real clock of a worker.

use std::fs;
use std::hint;

use model::Nanos;
use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

use super::counter::{Counter, kernel_now, trust};
use crate::traits::{Clock, Ticks};

/// Distance between the two readings of a calibration: 30 ns of error in 50 ms are 0.6 ppm.
const CALIBRATION: Nanos = Nanos::from_millis(50);

/// Part of an exact wait that is spun: what a kernel commonly takes to wake a thread, plus the
/// default timer slack of 50 us.
const SPIN: Nanos = Nanos(100_000);

/// Time since calibration from which a drift means more than the noise of two readings.
const DRIFT_AFTER: Nanos = Nanos::SECOND;

/// Drift beyond which the two clocks cannot both be right.
///
/// Source: Mills, 2010, RFC 5905 (NTP version 4), section 11.3: a kernel's clock is slewed by at
/// most 500 ppm.
const DRIFT_PPM_MAX: f64 = 500.0;

/// How the clock compares with the kernel's: kept with each run.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockCheck {
    /// Where stamps come from: `tsc`, or `clock_gettime` with the reason.
    pub source: String,
    /// Time since calibration.
    pub elapsed: Nanos,
    /// This clock minus the kernel's CLOCK_MONOTONIC, nanoseconds.
    pub offset_ns: i64,
    /// The offset per elapsed time, parts per million; `None` when too little time has passed,
    /// or the kernel's clock is itself the source.
    pub drift_ppm: Option<f64>,
}

impl ClockCheck {
    /// Returns whether stamps can be believed.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.drift_ppm.is_none_or(|drift| drift.abs() <= DRIFT_PPM_MAX)
    }
}

/// The processor's time stamp counter where it can be trusted, else the kernel's clock.
#[derive(Debug)]
pub struct SteadyClock {
    counter: Result<Counter, String>,
}

impl SteadyClock {
    /// Returns a clock, calibrated once: takes 50 to 250 ms, so make one per process.
    #[must_use]
    pub fn calibrate() -> Self {
        // A file that cannot be read is an empty promise: the kernel's clock is used then.
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let clocksource = fs::read_to_string(path).unwrap_or_default();
        let counter = trust(&cpuinfo, &clocksource).and_then(|()| {
            let (source, origin) = Counter::begin();
            sleep_until(origin.kernel.after(CALIBRATION));
            Counter::end(source, origin).ok_or_else(|| "the counter's rate is odd".to_owned())
        });
        Self { counter }
    }

    /// Returns a clock that asks the kernel for every stamp.
    #[must_use]
    pub fn kernel() -> Self {
        Self { counter: Err("asked for".to_owned()) }
    }

    /// Compares with the kernel's clock.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "offsets and spans are far below 2^53 ns")]
    pub fn check(&self) -> ClockCheck {
        match &self.counter {
            Ok(counter) => {
                let (ours, kernel) = counter.compare();
                let elapsed = kernel.since(counter.calibrated_at());
                let offset_ns = ours.0.cast_signed() - kernel.0.cast_signed();
                let drift = offset_ns as f64 / elapsed.0.max(1) as f64 * 1e6;
                let drift_ppm = (elapsed >= DRIFT_AFTER).then_some(drift);
                ClockCheck { source: "tsc".to_owned(), elapsed, offset_ns, drift_ppm }
            }
            Err(reason) => ClockCheck {
                source: format!("clock_gettime ({reason})"),
                elapsed: Nanos(0),
                offset_ns: 0,
                drift_ppm: None,
            },
        }
    }
}

impl Clock for SteadyClock {
    #[inline(always)]
    fn now(&self) -> Nanos {
        self.time_of(self.ticks())
    }

    #[inline(always)]
    fn ticks(&self) -> Ticks {
        match &self.counter {
            Ok(counter) => counter.ticks(),
            Err(_) => Ticks(kernel_now().0),
        }
    }

    #[inline(always)]
    fn time_of(&self, ticks: Ticks) -> Nanos {
        match &self.counter {
            Ok(counter) => counter.time_of(ticks),
            Err(_) => Nanos(ticks.0),
        }
    }

    fn ticks_at(&self, at: Nanos) -> Ticks {
        match &self.counter {
            Ok(counter) => counter.ticks_at(at),
            Err(_) => Ticks(at.0),
        }
    }

    #[inline(always)]
    fn between(&self, from: Ticks, to: Ticks) -> Nanos {
        match &self.counter {
            Ok(counter) => counter.between(from, to),
            Err(_) => Nanos(to.0.saturating_sub(from.0)),
        }
    }

    fn rest_until(&self, at: Nanos) -> Nanos {
        sleep_until(at);
        self.spin_until(at)
    }

    fn wait_until(&self, at: Nanos) -> Nanos {
        if at.since(self.now()) > SPIN {
            sleep_until(Nanos(at.0 - SPIN.0));
        }
        self.spin_until(at)
    }
}

impl SteadyClock {
    /// Spins until `at`; at once when it is past.
    fn spin_until(&self, at: Nanos) -> Nanos {
        loop {
            let now = self.now();
            if now >= at {
                return now;
            }
            hint::spin_loop();
        }
    }
}

/// Sleeps until the kernel's clock shows `at`.
fn sleep_until(at: Nanos) {
    let request = TimeSpec::new(
        i64::try_from(at.0 / 1_000_000_000).unwrap_or(i64::MAX),
        i64::try_from(at.0 % 1_000_000_000).unwrap_or(0),
    );
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    // A signal wakes the thread early; any other error cannot be helped by sleeping again.
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &request) == Err(Errno::EINTR) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_clock_agrees_with_the_kernels() {
        let clock = SteadyClock::calibrate();
        let check = clock.check();
        if check.source != "tsc" {
            println!("skipped: {}", check.source);
            return;
        }
        assert!(check.offset_ns.abs() < 20_000, "{check:?}");
        assert!(check.is_sound());
        let (before, ours, after) = (kernel_now(), clock.now(), kernel_now());
        assert!(ours.0 + 20_000 > before.0 && ours.0 < after.0 + 20_000);
        for span in [0, 1, 17, 999_999_999, 86_400_000_000_000] {
            let at = ours.after(Nanos(span));
            let ticks = clock.ticks_at(at);
            assert!(clock.time_of(ticks) >= Nanos(at.0 - 1), "{span}");
            assert!(clock.time_of(Ticks(ticks.0 - 40)) < at, "{span}");
            let found = clock.between(clock.ticks_at(ours), ticks).0;
            assert!(found.abs_diff(span) <= 2, "{found} {span}");
        }
    }

    #[test]
    fn waiting_ends_at_the_asked_time_and_not_before() {
        for clock in [SteadyClock::kernel(), SteadyClock::calibrate()] {
            let at = clock.now().after(Nanos(300_000));
            assert!(clock.wait_until(at) >= at);
            let at = clock.now().after(Nanos(300_000));
            assert!(clock.rest_until(at) >= at);
            let past = clock.now();
            assert!(clock.wait_until(past).since(past) < Nanos::SECOND);
        }
    }

    #[test]
    fn a_drift_no_kernel_would_make_is_not_sound() {
        let mut check = SteadyClock::kernel().check();
        assert!(check.is_sound() && check.source.starts_with("clock_gettime"));
        check.drift_ppm = Some(-700.0);
        assert!(!check.is_sound());
    }
}
