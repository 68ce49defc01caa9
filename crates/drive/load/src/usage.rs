//! What the kernel charges to threads and to the process.

use model::Readings;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Totals of one thread or of the process since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    user_us: u64,
    kernel_us: u64,
    voluntary: u64,
    involuntary: u64,
    major_faults: u64,
    minor_faults: u64,
}

impl Usage {
    /// Returns the totals of the calling thread.
    pub(crate) fn of_thread() -> Self {
        Self::of(UsageWho::RUSAGE_THREAD)
    }

    /// Returns the totals of all threads of the process, ended ones included.
    pub(crate) fn of_process() -> Self {
        Self::of(UsageWho::RUSAGE_SELF)
    }

    fn of(who: UsageWho) -> Self {
        let usage = getrusage(who).expect("the kernel knows both kinds of caller");
        let count = |value: i64| u64::try_from(value).unwrap_or(0);
        Self {
            user_us: count(usage.user_time().num_microseconds()),
            kernel_us: count(usage.system_time().num_microseconds()),
            voluntary: count(usage.voluntary_context_switches()),
            involuntary: count(usage.involuntary_context_switches()),
            major_faults: count(usage.major_page_faults()),
            minor_faults: count(usage.minor_page_faults()),
        }
    }

    /// Returns the growth since `earlier`.
    pub(crate) const fn since(&self, earlier: &Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            kernel_us: self.kernel_us.saturating_sub(earlier.kernel_us),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }

    /// Adds what one client thread used; clients and writers are both ours, so both count.
    pub(crate) fn add_as_client(&self, readings: &mut Readings) {
        add(readings, "client_cpu_user_us", self.user_us);
        add(readings, "client_cpu_kernel_us", self.kernel_us);
        add(readings, "client_context_switches_voluntary", self.voluntary);
        add(readings, "client_context_switches_involuntary", self.involuntary);
    }
}

/// Returns the process's accounts so far, cumulative, under the names of the metrics.
///
/// For phases without clients, such as a settle; the calling thread counts as the harness.
#[must_use]
pub fn process_readings() -> Readings {
    let mut readings = Readings::new();
    ProcessUsage::now().add_to(&mut readings);
    readings
}

/// Totals as the coordinator sees them: the process, and the coordinator's own thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProcessUsage {
    process: Usage,
    harness: Usage,
}

impl ProcessUsage {
    /// Returns the totals now; called by the coordinator's thread.
    pub(crate) fn now() -> Self {
        Self { process: Usage::of_process(), harness: Usage::of_thread() }
    }

    /// Returns the growth since `earlier`.
    pub(crate) const fn since(&self, earlier: &Self) -> Self {
        Self {
            process: self.process.since(&earlier.process),
            harness: self.harness.since(&earlier.harness),
        }
    }

    /// Adds the growth to an interval's readings.
    pub(crate) fn add_to(&self, readings: &mut Readings) {
        add(readings, "process_cpu_user_us", self.process.user_us);
        add(readings, "process_cpu_kernel_us", self.process.kernel_us);
        add(readings, "harness_cpu_us", self.harness.user_us + self.harness.kernel_us);
        add(readings, "context_switches_voluntary", self.process.voluntary);
        add(readings, "context_switches_involuntary", self.process.involuntary);
        add(readings, "major_faults", self.process.major_faults);
        add(readings, "minor_faults", self.process.minor_faults);
    }
}

/// Adds every reading of `from` to `into`.
pub(crate) fn merge(into: &mut Readings, from: &Readings) {
    for (name, value) in from {
        match into.get_mut(name) {
            Some(sum) => *sum += value,
            None => drop(into.insert(name.clone(), *value)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds and counts far below 2^53")]
fn add(readings: &mut Readings, name: &str, value: u64) {
    match readings.get_mut(name) {
        Some(sum) => *sum += value as f64,
        None => drop(readings.insert(name.to_owned(), value as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_has_its_line_in_the_table_of_metrics() {
        let mut readings = Readings::new();
        Usage::default().add_as_client(&mut readings);
        ProcessUsage::default().add_to(&mut readings);
        assert_eq!(readings.len(), 11);
        for name in readings.keys() {
            assert!(model::metric::find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn work_is_charged_to_the_thread_that_does_it() {
        let before = ProcessUsage::now();
        let mut sum = 0u64;
        let mut now = before;
        for _ in 0..10_000 {
            sum = (0..20_000u64).fold(sum, |a, b| a.wrapping_mul(31) ^ std::hint::black_box(b));
            now = ProcessUsage::now();
            if now.since(&before).harness.user_us > 0 {
                break;
            }
        }
        let growth = now.since(&before);
        assert!(growth.harness.user_us > 0, "{sum} {growth:?}");
        assert!(growth.process.user_us + growth.process.kernel_us > 0);
        let mut readings = Readings::new();
        growth.add_to(&mut readings);
        let mut total = readings.clone();
        merge(&mut total, &readings);
        assert!(total["harness_cpu_us"] >= 2.0);
    }
}
