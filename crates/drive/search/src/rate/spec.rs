//! Parameters of the rate search.

use model::{Limit, Nanos, whole};

/// Parameters of the search for the highest rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSpec {
    /// The response-time limit.
    pub limit: Limit,
    /// Clients of the step.
    pub clients: u32,
    /// Calibrated client ceiling: operations per second on schedule.
    pub ceiling_ops_per_s: f64,
    /// Measured span of a probe; extended when more operations are needed.
    pub probe: Nanos,
    /// Unmeasured time before each probe.
    pub warmup: Nanos,
    /// Largest ratio of lowest failed to highest passed rate, > 1.
    pub precision: f64,
}

/// Highest offered rate as a share of the client's ceiling.
///
/// Our choice: above it the client's own queueing would show in the response times.
const CEILING_SHARE: f64 = 0.8;
/// Longest probe as a multiple of the plain one, for undecided rates.
///
/// Our choice: four times the operations halve the interval of the late share.
const LONGER: u64 = 4;
/// Confirmation length as a multiple of a plain probe.
///
/// Our choice: ten minutes for probes of a minute cover several compaction cycles.
const CONFIRM: u64 = 10;
/// Longest confirmation, unless the plain probe is longer.
///
/// Our choice: three times the ten minutes of the default probe.
const LONGEST_CONFIRM: Nanos = Nanos::from_secs(1800);

impl RateSpec {
    /// Returns the precision for probes: 1.02, or 1.05 below 10 s.
    ///
    /// Our choice: 2 % is the default margin of comparisons; short probes resolve no more than 5 %.
    pub fn precision_for(probe: Nanos) -> f64 {
        if probe < Nanos::from_secs(10) { 1.05 } else { 1.02 }
    }

    /// Returns the highest rate that may be offered.
    pub(super) fn cap_ops_per_s(&self) -> f64 {
        CEILING_SHARE * self.ceiling_ops_per_s
    }

    /// Returns the lowest rate at which the longest plain probe can test the limit.
    pub(super) fn floor_ops_per_s(&self) -> f64 {
        self.arrivals_needed() / self.longest().as_secs_f64()
    }

    /// Returns the length of the first probe at a rate: longer when it needs more operations.
    pub(super) fn plain(&self, ops_per_s: f64) -> Nanos {
        self.with_enough(ops_per_s, self.probe).min(self.longest())
    }

    /// Returns the length of the probe after an undecided one.
    pub(super) fn longest(&self) -> Nanos {
        times(self.probe, LONGER)
    }

    /// Returns the length of a confirmation.
    pub(super) fn confirmation(&self, ops_per_s: f64) -> Nanos {
        let length = times(self.probe, CONFIRM).min(LONGEST_CONFIRM.max(self.probe));
        self.with_enough(ops_per_s, length).min(length.max(self.longest()))
    }

    /// Returns `length`, or the time in which enough operations arrive at this rate.
    fn with_enough(&self, ops_per_s: f64, length: Nanos) -> Nanos {
        let seconds = (self.arrivals_needed() / ops_per_s).ceil();
        length.max(Nanos(whole(seconds * 1e9)))
    }

    /// Returns the mean number of arrivals that ensures the operations needed.
    fn arrivals_needed(&self) -> f64 {
        let needed = model::float(self.limit.operations_needed());
        // Three standard deviations of a Poisson count.
        needed + 3.0 * needed.sqrt()
    }
}

fn times(span: Nanos, factor: u64) -> Nanos {
    Nanos(span.0.saturating_mul(factor))
}
