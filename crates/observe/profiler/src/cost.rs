//! Measures what a sample costs on this host.

use linux_perf_data::linux_perf_event_reader::RecordType;
use model::{Nanos, Unwinder, count};

use crate::error::ProfilerError;
use crate::perf_process::now;
use crate::profiler::{Profiler, frequency};
use crate::recorder::{Recorder, Recording};

/// Returns the frequency of the measurement, samples per second of CPU time.
///
/// Our choice: some thousand samples, of which the median is known to 1 us; with copies of stacks
/// fewer, because `perf` loses samples beyond 100 MB a second.
const fn hz(unwinder: Unwinder) -> u32 {
    match unwinder {
        Unwinder::FramePointers => 4999,
        Unwinder::Dwarf => 999,
    }
}

/// Time of the measurement.
///
/// Our choice: a second has hundreds of samples, even where the thread gets a tenth of a CPU.
const SPAN: Nanos = Nanos(1_000_000_000);
/// Shortest interruption that is stored. Our choice: a reading of the clock takes 0.03 to 0.5 us.
const SHORTEST: Nanos = Nanos(1_000);

impl Profiler {
    /// Finds `perf` and the event that it can sample here, and measures the cost of a sample: the
    /// time by which it interrupts a thread, and the CPU time in which `perf` writes it.
    ///
    /// Takes two to three seconds, one of them in a loop on this thread.
    ///
    /// # Errors
    /// `perf` is missing, fails or takes no sample, or the kernel refuses.
    pub fn measure(unwinder: Unwinder) -> Result<Self, ProfilerError> {
        let trial = Self::resumed("cycles", hz(unwinder), unwinder, Nanos(0))?;
        let dir = tempfile::tempdir().map_err(ProfilerError::io("make a directory"))?;
        let file = dir.path().join("perf.data");
        let own = [std::process::id()];
        let mut recorder = Recorder::start(&trial, &own, &file)?;
        recorder.enable()?;
        let before = recorder.cpu();
        let interrupted = spin();
        let perf_cpu = recorder.cpu().since(before);
        recorder.disable()?;
        // A host without counters of the processor silently samples another event.
        let (event, times) = own_samples(&recorder.stop()?)?;
        let interruption = cost(&interrupted, &times).ok_or(ProfilerError::NoSample)?;
        let cost = interruption.after(Nanos(perf_cpu.0 / u64::from(count(times.len()))));
        Self::resumed(&event, frequency(cost), unwinder, cost)
    }
}

/// A time in which a loop on this thread did not run.
#[derive(Debug, Clone, Copy)]
struct Interruption {
    from: Nanos,
    until: Nanos,
}

/// Reads the clock for a time, and returns when that was interrupted.
fn spin() -> Vec<Interruption> {
    let mut found = Vec::new();
    let mut from = now();
    let end = from.after(SPAN);
    while from < end {
        let until = now();
        if until.since(from) >= SHORTEST {
            found.push(Interruption { from, until });
        }
        from = until;
    }
    found
}

/// Returns the median time by which samples interrupted a loop; `None` without samples.
///
/// The kernel stamps a sample within the interruption. Speeds with and without samples would also
/// include what neighbours do: they gave 0 to 28 us on a busy host, on which this gave 22 to 25.
fn cost(interrupted: &[Interruption], samples: &[Nanos]) -> Option<Nanos> {
    let at = |time: &Nanos| {
        let next = interrupted.partition_point(|interruption| interruption.until < *time);
        let interruption = interrupted.get(next).filter(|found| found.from <= *time)?;
        Some(interruption.until.since(interruption.from))
    };
    let mut costs: Vec<Nanos> = samples.iter().filter_map(at).collect();
    costs.sort_unstable();
    costs.get(costs.len() / 2).copied()
}

/// Returns the sampled event, and the times of the samples of this thread.
fn own_samples(recording: &Recording) -> Result<(String, Vec<Nanos>), ProfilerError> {
    let own = rustix::thread::gettid().as_raw_pid();
    let mut times = Vec::new();
    let event = recording.data().read(|record| {
        let sample = record.common_data()?;
        if record.record_type == RecordType::SAMPLE && sample.tid == Some(own) {
            times.extend(sample.timestamp.map(Nanos));
        }
        Ok(())
    })?;
    Ok((event, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interruption(from: u64, until: u64) -> Interruption {
        Interruption { from: Nanos(from), until: Nanos(until) }
    }

    #[test]
    fn cost_is_the_median_interruption_by_samples() {
        let interrupted = [
            interruption(100, 130),
            interruption(200, 900),
            interruption(1_000, 1_020),
            interruption(2_000, 2_031),
        ];
        assert_eq!(cost(&interrupted, &[110, 1_020, 2_000].map(Nanos)), Some(Nanos(30)));
        assert_eq!(cost(&interrupted, &[Nanos(500)]), Some(Nanos(700)));
    }

    #[test]
    fn cost_is_unknown_without_interruptions_by_samples() {
        assert_eq!(cost(&[], &[Nanos(5)]), None);
        assert_eq!(cost(&[interruption(100, 130)], &[Nanos(99), Nanos(131)]), None);
        assert_eq!(cost(&[interruption(100, 130)], &[]), None);
    }
}
