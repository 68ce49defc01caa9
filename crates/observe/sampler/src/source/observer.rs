//! CPU and context switches of Assay on the host of a server whose clients run elsewhere.

use model::{Readings, metric};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::targets::{RunTargets, Sampler};

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    targets.pid.is_none().then(|| -> Sampler { Box::new(|_| sample()) })
}

/// Reads the accounts of this process, ended threads included.
///
/// Source: getrusage(2), `RUSAGE_SELF`.
fn sample() -> Readings {
    let mut readings = Readings::new();
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return readings };
    let cpu = usage.user_time() + usage.system_time();
    let switches = usage.voluntary_context_switches() + usage.involuntary_context_switches();
    readings.set(metric::OBSERVER_CPU_US, u64::try_from(cpu.num_microseconds()).ok());
    readings.set(metric::OBSERVER_CONTEXT_SWITCHES, u64::try_from(switches).ok());
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_and_switches_of_this_process_grow() {
        let before = sample();
        let sum = (0..20_000_000_u64).fold(0, |sum, n| std::hint::black_box(n ^ sum));
        std::thread::spawn(std::thread::yield_now).join().unwrap();
        let after = sample();
        let grown = |metric| after[metric] - before[metric];
        assert!(grown(metric::OBSERVER_CPU_US) > 1_000.0, "{sum} {before:?} {after:?}");
        assert!(grown(metric::OBSERVER_CONTEXT_SWITCHES) >= 1.0, "{before:?} {after:?}");
    }
}
