//! The time the machine was suspended.

use model::{Nanos, Readings, metric};
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::targets::{RunTargets, Sampler};

/// Offsets read for one sample: the smallest has the least delay between its two clocks.
const TRIES: usize = 3;

/// Starts the sampler.
pub(crate) fn start(_: &RunTargets<'_>) -> Option<Sampler> {
    let mut sampler = SuspensionSampler::default();
    Some(Box::new(move |_| sampler.sample()))
}

/// Reads the difference between the clock that counts suspends and the one that does not.
#[derive(Default)]
struct SuspensionSampler {
    most: Nanos,
}

impl SuspensionSampler {
    fn sample(&mut self) -> Readings {
        let now = |id| nanos(clock_gettime(id));
        let offset = || {
            let running = now(ClockId::Monotonic);
            now(ClockId::Boottime).since(running)
        };
        self.update((0..TRIES).map(|_| offset()).min().unwrap_or_default())
    }

    /// Returns the reading for an offset of the two clocks.
    ///
    /// Whole milliseconds that never shrink: the rest is the delay between two calls.
    ///
    /// Source: `clock_gettime(2)`, `CLOCK_BOOTTIME`.
    fn update(&mut self, offset: Nanos) -> Readings {
        self.most = self.most.max(offset);
        let mut readings = Readings::new();
        readings.set(metric::HOST_SUSPENDED_US, self.most.0 / 1_000_000 * 1_000);
        readings
    }
}

fn nanos(time: Timespec) -> Nanos {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Nanos::from_secs(seconds).after(Nanos(u64::try_from(time.tv_nsec).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspension_is_the_growth_of_the_offset_and_never_shrinks() {
        let mut sampler = SuspensionSampler::default();
        let mut suspended_us = |offset| {
            let offset = Nanos(offset);
            sampler.update(offset).value(metric::HOST_SUSPENDED_US).unwrap()
        };
        let read = [300, 7_000_000_400, 6_999_999_900].map(&mut suspended_us);
        assert_eq!(read.map(|us| us.to_string()), ["0", "7000000", "7000000"]);
    }

    #[test]
    fn this_machine_reports_its_suspensions() {
        let mut sampler = SuspensionSampler::default();
        let first = sampler.sample()[metric::HOST_SUSPENDED_US];
        assert!(sampler.sample()[metric::HOST_SUSPENDED_US] >= first);
    }
}
