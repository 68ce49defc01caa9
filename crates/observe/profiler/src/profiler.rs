//! `perf` on this host: the event, the frequency, the unwinder and the cost of a sample.

use std::path::{Path, PathBuf};

use model::{Nanos, Unwinder, float, whole};

use crate::error::ProfilerError;

/// Largest share of a CPU that sampling may take. Source: issue 43, section 1: at most 1 %.
const BUDGET: f64 = 0.01;
/// The cost in an engine over the cost in a loop.
///
/// Our choice: an engine, whose caches a sample evicts, lost 35 to 66 us a sample, a loop 31 to 33.
const ENGINE_FACTOR: f64 = 2.0;
/// Highest frequency, samples per second of CPU time.
///
/// Our choice: 10 s give 10,000 samples, five times the 2,000 that find a change of 2 %.
const MAX_HZ: u64 = 999;
/// Lowest frequency, samples per second of CPU time.
///
/// Our choice: below it a step of 60 s has fewer than 1,000 samples, which find no change.
const MIN_HZ: u64 = 19;

/// `perf` on this host: the event, the frequency, how callers are found, and what a sample costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiler {
    perf: PathBuf,
    event: String,
    hz: u32,
    unwinder: Unwinder,
    sample_cost: Nanos,
}

impl Profiler {
    /// Finds `perf`, for an experiment whose profiler was measured before.
    ///
    /// # Errors
    /// `perf` is missing.
    pub fn resumed(
        event: &str,
        hz: u32,
        unwinder: Unwinder,
        sample_cost: Nanos,
    ) -> Result<Self, ProfilerError> {
        let perf = find().ok_or(ProfilerError::NotInstalled)?;
        Ok(Self { perf, event: event.to_owned(), hz, unwinder, sample_cost })
    }

    /// Checks that `perf` is installed.
    ///
    /// # Errors
    /// `perf` is missing.
    pub fn check() -> Result<(), ProfilerError> {
        find().map(drop).ok_or(ProfilerError::NotInstalled)
    }

    /// Returns the program.
    pub fn perf(&self) -> &Path {
        &self.perf
    }

    /// Returns the event that is sampled, as the file of samples names it.
    pub fn event(&self) -> &str {
        &self.event
    }

    /// Returns the samples per second of CPU time.
    pub fn hz(&self) -> u32 {
        self.hz
    }

    /// Returns how callers are found.
    pub fn unwinder(&self) -> Unwinder {
        self.unwinder
    }

    /// Returns the CPU time of a sample in a loop, with that of `perf`.
    pub fn sample_cost(&self) -> Nanos {
        self.sample_cost
    }
}

/// Returns the path of `perf`.
fn find() -> Option<PathBuf> {
    child::find("perf")
}

/// Returns the frequency at which sampling takes the budget.
///
/// Our choice: it ends in 9, so that it does not keep step with timers of 10 or 100 Hz.
pub(crate) fn frequency(sample_cost: Nanos) -> u32 {
    let cost_seconds = float(sample_cost.0) / 1e9;
    let hz = whole((BUDGET / (ENGINE_FACTOR * cost_seconds)).min(float(MAX_HZ)));
    let hz = (hz.saturating_add(1) / 10 * 10).saturating_sub(1).clamp(MIN_HZ, MAX_HZ);
    u32::try_from(hz).expect("a frequency is below 1000 Hz")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequency_takes_one_percent_and_ends_in_nine() {
        assert_eq!(frequency(Nanos(31_000)), 159);
        assert_eq!(frequency(Nanos(25_000)), 199);
        assert_eq!(frequency(Nanos(2_000)), 999);
    }

    #[test]
    fn frequency_has_a_lower_and_an_upper_limit() {
        assert_eq!(frequency(Nanos(0)), 999);
        assert_eq!(frequency(Nanos(1)), 999);
        assert_eq!(frequency(Nanos(u64::MAX)), 19);
    }

    #[test]
    fn a_resumed_profiler_has_the_stored_values() {
        let Ok(profiler) = Profiler::resumed("cpu-clock", 199, Unwinder::Dwarf, Nanos(31_000))
        else {
            println!("skipped: no perf");
            return;
        };
        assert_eq!((profiler.event(), profiler.hz()), ("cpu-clock", 199));
        assert_eq!(profiler.unwinder(), Unwinder::Dwarf);
        assert_eq!(profiler.sample_cost(), Nanos(31_000));
        assert!(profiler.perf().is_absolute());
    }
}
