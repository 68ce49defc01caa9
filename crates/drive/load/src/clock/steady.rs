//! The real clock of a worker.

use std::fs;
use std::hint;

use model::Nanos;
use model::record::ClockRecord;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

use super::counter::{Counter, kernel_now, pair, trust};
use crate::ticks::{Ticker, Ticks};
use crate::traits::Clock;

/// Distance between the two readings of a calibration: 30 ns of error in 50 ms are 0.6 ppm.
const CALIBRATION: Nanos = Nanos::from_millis(50);

/// Sleeps during a calibration, from which the margin of exact waits is taken.
const SLEEPS: u64 = 50;

/// Limits of that margin. Below the first a sleep saves nothing; beyond the second it is the host
/// that is busy, and a longer spin would make it busier.
///
/// Our choice, measured: a sleep with 1 ns of timer slack ends 21 us late in the median on a busy
/// virtual machine.
const MARGIN_MIN: Nanos = Nanos(20_000);
const MARGIN_MAX: Nanos = Nanos(200_000);

/// Distance to the end of a wait from which every reading counts: a pause instruction takes 40 to
/// 140 cycles on processors since 2016, and costs as much of exactness.
///
/// Source: [Intel 2023], section 2.7.4.
const NEAR: Nanos = Nanos(2_000);

/// Time since calibration from which a drift means more than the noise of two readings.
const DRIFT_AFTER: Nanos = Nanos::SECOND;

/// Drift beyond which the two clocks cannot both be right.
///
/// Source: [Mills 2010], section 11.3: a kernel's clock is slewed by at most 500 ppm.
const DRIFT_PPM_MAX: f64 = 500.0;

/// The time stamp counter if trusted, else the kernel's clock.
#[derive(Debug, Clone)]
pub struct SteadyClock {
    is_counter: bool,
    /// Scale of the readings, whichever clock they are of.
    scale: Counter,
    source: String,
    margin: Nanos,
}

impl SteadyClock {
    /// Returns a calibrated clock; takes 50 to 250 ms.
    ///
    /// Calibrated once, so make one per process.
    pub fn calibrate() -> Self {
        // A file that cannot be read is an empty text: the kernel's clock is used then.
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let clocksource = fs::read_to_string(path).unwrap_or_default();
        let mut margin = MARGIN_MAX;
        let counter = trust(&cpuinfo, &clocksource).and_then(|()| {
            let origin = pair();
            margin = measured_margin(origin.kernel);
            Counter::end(origin).ok_or_else(|| "the counter's rate is odd".to_owned())
        });
        match counter {
            Ok(scale) => Self { is_counter: true, scale, source: "tsc".to_owned(), margin },
            Err(reason) => Self { margin, ..Self::kernel_because(&reason) },
        }
    }

    /// Returns a clock that calls the kernel for every stamp.
    pub fn kernel() -> Self {
        Self::kernel_because("requested")
    }

    fn kernel_because(reason: &str) -> Self {
        let source = format!("clock_gettime ({reason})");
        Self { is_counter: false, scale: Counter::IDENTITY, source, margin: MARGIN_MAX }
    }

    /// Returns the kernel's time at a time of this clock that is to come.
    ///
    /// The two drift apart, by the kernel's corrections and by the error of the calibration.
    fn kernel_time(&self, at: Nanos) -> Nanos {
        kernel_now().after(at.since(self.now()))
    }

    /// Compares with the kernel's clock, since calibration.
    pub fn check(&self) -> ClockRecord {
        let drift = || {
            let (ours, kernel) = self.scale.compare();
            let elapsed = kernel.since(self.scale.origin.kernel);
            let offset_ns = ours.0.cast_signed() - kernel.0.cast_signed();
            let drift = offset_ns as f64 / elapsed.0.max(1) as f64 * 1e6;
            (elapsed >= DRIFT_AFTER).then_some(drift)
        };
        let drift_ppm = if self.is_counter { drift() } else { None };
        ClockRecord { source: self.source.clone(), drift_ppm, is_sound: is_sound(drift_ppm) }
    }
}

/// Returns whether stamps with this drift are reliable.
fn is_sound(drift_ppm: Option<f64>) -> bool {
    drift_ppm.is_none_or(|drift| drift.abs() <= DRIFT_PPM_MAX)
}

impl Ticker for SteadyClock {
    #[inline(always)]
    fn ticks(&self) -> Ticks {
        if self.is_counter { self.scale.ticks() } else { Ticks(kernel_now().0) }
    }

    #[inline(always)]
    fn time_of(&self, ticks: Ticks) -> Nanos {
        self.scale.time_of(ticks)
    }

    fn ticks_at(&self, at: Nanos) -> Ticks {
        self.scale.ticks_at(at)
    }

    #[inline(always)]
    fn between(&self, from: Ticks, to: Ticks) -> Nanos {
        self.scale.between(from, to)
    }
}

impl Clock for SteadyClock {
    fn counter(&self) -> Option<&Counter> {
        self.is_counter.then_some(&self.scale)
    }

    fn rest_until(&self, at: Nanos) -> Nanos {
        sleep_until(self.kernel_time(at));
        self.time_of(self.spin_until(at))
    }

    #[inline(always)]
    fn spin_until(&self, at: Nanos) -> Ticks {
        loop {
            let ticks = self.ticks();
            let now = self.time_of(ticks);
            if now >= at {
                return ticks;
            }
            if at.since(now) > NEAR {
                hint::spin_loop();
            }
        }
    }

    fn wait_until(&self, at: Nanos) -> Ticks {
        if at.since(self.now()) > self.margin {
            sleep_exactly_until(self.kernel_time(Nanos(at.0 - self.margin.0)));
        }
        self.spin_until(at)
    }

    fn margin(&self) -> Nanos {
        self.margin
    }
}

/// Sleeps for the time of a calibration that began at `start`, and returns the margin that would
/// have made 19 of 20 sleeps end in time.
fn measured_margin(start: Nanos) -> Nanos {
    let mut late: Vec<Nanos> = (1..=SLEEPS)
        .map(|number| {
            let at = start.after(Nanos(CALIBRATION.0 / SLEEPS * number));
            sleep_exactly_until(at);
            kernel_now().since(at)
        })
        .collect();
    late.sort_unstable();
    late[late.len() * 19 / 20].clamp(MARGIN_MIN, MARGIN_MAX)
}

/// Sleeps until the kernel's clock shows `at`, without the slack that timers commonly have.
///
/// Only for this sleep: an engine's own sleeps on its client's thread stay as they are.
fn sleep_exactly_until(at: Nanos) {
    // Without the call a sleep is up to 50 us longer, which the start lag will show.
    let is_exact = prctl::set_timerslack(1).is_ok();
    sleep_until(at);
    if is_exact {
        // Zero stands for the thread's default.
        prctl::set_timerslack(0).ok();
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
        let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let source = std::fs::read_to_string(source).unwrap_or_default();
        if source.trim() != "tsc" {
            println!("skipped: the kernel's clock is not the TSC but `{}`", source.trim());
            return;
        }
        assert!(check.source == "tsc" && check.is_sound, "{check:?}");
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
    fn waiting_ends_at_the_requested_time_and_not_before() {
        for clock in [SteadyClock::kernel(), SteadyClock::calibrate()] {
            let at = clock.now().after(Nanos(300_000));
            assert!(clock.time_of(clock.wait_until(at)) >= at);
            let at = clock.now().after(Nanos(300_000));
            assert!(clock.time_of(clock.spin_until(at)) >= at);
            let at = clock.now().after(Nanos(300_000));
            assert!(clock.rest_until(at) >= at);
            let past = clock.now();
            assert!(clock.time_of(clock.wait_until(past)).since(past) < Nanos::SECOND);
        }
    }

    #[test]
    fn the_margin_is_measured_within_its_limits_and_the_slack_is_given_back() {
        let before = prctl::get_timerslack().unwrap();
        let clock = SteadyClock::calibrate();
        assert!((MARGIN_MIN..=MARGIN_MAX).contains(&clock.margin()), "{:?}", clock.margin());
        assert_eq!(prctl::get_timerslack().unwrap(), before);
    }

    #[test]
    fn a_drift_no_kernel_would_make_is_not_sound() {
        let check = SteadyClock::kernel().check();
        assert!(check.is_sound && check.source.starts_with("clock_gettime"));
        assert!(is_sound(Some(400.0)) && !is_sound(Some(-700.0)));
    }
}
