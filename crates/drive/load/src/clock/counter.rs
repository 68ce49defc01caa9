//! The processor's time stamp counter on the kernel's scale.

use model::Nanos;
use nix::time::{ClockId, clock_gettime};

use super::ffi_counter::{EXISTS, read};
use crate::ticks::{Ticker, Ticks};

/// Bits of the fraction in a scale factor.
const SCALE_BITS: u32 = 32;

/// Readings of which the tightest counts: one in a few tens runs without an interrupt.
const PAIR_TRIES: u32 = 64;

/// Returns the kernel's monotonic clock.
///
/// Through libc, not rustix: rustix finds the vDSO itself, and aborts under valgrind, which hides
/// it and counts our instructions.
#[cold]
#[expect(clippy::cast_sign_loss, reason = "the monotonic clock counts up from 0 at boot")]
pub(super) fn kernel_now() -> Nanos {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every kernel has this clock");
    Nanos(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Checks whether the counter can be trusted; the error is the reason against it.
///
/// The processor must guarantee a constant rate in every power state, and the kernel, which
/// verifies the counter from boot on, must itself keep time by it.
pub(super) fn trust(cpuinfo: &str, clocksource: &str) -> Result<(), String> {
    let clocksource = clocksource.trim();
    if !EXISTS {
        return Err("this kind of processor has no counter that Assay reads".to_owned());
    }
    if cfg!(target_arch = "aarch64") {
        return match clocksource {
            "arch_sys_counter" => Ok(()),
            other => Err(format!("the kernel keeps time by {other}")),
        };
    }
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    for flag in ["constant_tsc", "nonstop_tsc"] {
        if !flags.split_whitespace().any(|word| word == flag) {
            return Err(format!("the processor does not report {flag}"));
        }
    }
    match clocksource {
        "tsc" | "kvm-clock" => Ok(()),
        other => Err(format!("the kernel keeps time by {other}")),
    }
}

/// One moment on both scales.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) ticks: u64,
    pub(super) kernel: Nanos,
}

/// The counter with its calibration.
#[derive(Debug, Clone)]
pub struct Counter {
    /// When the calibration was made.
    pub(super) origin: Pair,
    /// Nanoseconds per tick, fixed point with `SCALE_BITS` of fraction.
    scale: u64,
}

impl Counter {
    /// Readings that are nanoseconds of the kernel's clock already.
    pub(super) const IDENTITY: Self =
        Self { origin: Pair { ticks: 0, kernel: Nanos(0) }, scale: 1 << SCALE_BITS };

    /// Ends a calibration that began some time before; `None` when the rate makes no sense.
    pub(super) fn end(origin: Pair) -> Option<Self> {
        let later = pair();
        let ticks = later.ticks.checked_sub(origin.ticks).filter(|ticks| *ticks > 0)?;
        let span = later.kernel.since(origin.kernel);
        let ns_per_tick = span.0 as f64 / ticks as f64;
        // 100 MHz to 20 GHz: every counter there is, and a scale that fits its fixed point.
        if !(0.05..=40.0).contains(&ns_per_tick) {
            return None;
        }
        let scale = u64::try_from((u128::from(span.0) << SCALE_BITS) / u128::from(ticks)).ok()?;
        Some(Self { origin: later, scale })
    }

    /// Returns one moment as this clock and as the kernel's clock see it.
    pub(super) fn compare(&self) -> (Nanos, Nanos) {
        let pair = pair();
        (self.time_of(Ticks(pair.ticks)), pair.kernel)
    }
}

impl Ticker for Counter {
    #[inline(always)]
    fn ticks(&self) -> Ticks {
        Ticks(read())
    }

    #[inline(always)]
    fn time_of(&self, ticks: Ticks) -> Nanos {
        self.origin.kernel.after(self.between(Ticks(self.origin.ticks), ticks))
    }

    fn ticks_at(&self, at: Nanos) -> Ticks {
        let span = u128::from(at.since(self.origin.kernel).0) << SCALE_BITS;
        let ticks = u64::try_from(span.div_ceil(u128::from(self.scale))).unwrap_or(u64::MAX);
        Ticks(self.origin.ticks.saturating_add(ticks))
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "64 bits hold 500 years in nanoseconds")]
    fn between(&self, from: Ticks, to: Ticks) -> Nanos {
        let ticks = u128::from(to.0.saturating_sub(from.0));
        Nanos(((ticks * u128::from(self.scale)) >> SCALE_BITS) as u64)
    }
}

/// Reads both clocks at one moment: the try in which they were read closest together.
pub(super) fn pair() -> Pair {
    let mut best = Pair { ticks: read(), kernel: kernel_now() };
    let mut tightest = u64::MAX;
    for _ in 0..PAIR_TRIES {
        let before = read();
        let kernel = kernel_now();
        let width = read().saturating_sub(before);
        if width < tightest {
            tightest = width;
            best = Pair { ticks: before + width / 2, kernel };
        }
    }
    best
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_counter_is_trusted_only_when_processor_and_kernel_both_do() {
        let good = "processor : 0\nflags\t\t: fpu constant_tsc nonstop_tsc rdtscp\n";
        assert_eq!(trust(good, "tsc\n"), Ok(()));
        assert_eq!(trust(good, "kvm-clock"), Ok(()));
        assert!(trust(good, "hpet").unwrap_err().contains("hpet"));
        assert!(trust(good, "").is_err());
        let drifting = "flags : fpu constant_tsc\n";
        assert!(trust(drifting, "tsc").unwrap_err().contains("nonstop_tsc"));
        assert!(trust("", "tsc").unwrap_err().contains("constant_tsc"));
    }
}
