//! What the search for the highest rate has to know.

use model::{Limit, Nanos};

/// What the search for the highest rate has to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSpec {
    /// What the operations must keep.
    pub limit: Limit,
    /// Clients of the step.
    pub clients: u32,
    /// Operations per second that the client was calibrated to offer on schedule.
    pub ceiling_ops_per_s: f64,
    /// Measured span of a probe; single probes are longer when they have to be.
    pub probe: Nanos,
    /// Unmeasured time before each probe.
    pub warmup: Nanos,
    /// Largest ratio of the lowest rate that failed to the highest that passed, > 1.
    pub precision: f64,
}

/// Share of the client's ceiling that is offered at most.
///
/// Above it the client's own queueing would be seen in the response times.
///
/// Source: the project's brief for the search.
const CEILING_SHARE: f64 = 0.8;
/// How many times longer than a plain probe one may be that could not tell.
///
/// Source: the project's reference, analysis, section 5.3.
const LONGER: u64 = 4;
/// How many times longer than a plain probe the confirmation is.
///
/// Source: the project's reference, analysis, section 5.3: ten minutes at a minute for a probe.
const CONFIRM: u64 = 10;
/// Longest confirmation, unless the plain probe is longer.
///
/// Three times the ten minutes that the reference asks for.
const LONGEST_CONFIRM: Nanos = Nanos::from_secs(1800);

impl RateSpec {
    /// Returns the precision that probes of this length are good for: 1.02, or 1.05 below 10 s.
    ///
    /// Source: the project's reference, analysis, section 5.3.
    #[must_use]
    pub fn precision_for(probe: Nanos) -> f64 {
        if probe < Nanos::from_secs(10) { 1.05 } else { 1.02 }
    }

    /// Returns the highest rate that may be offered.
    pub(super) fn cap_ops_per_s(&self) -> f64 {
        CEILING_SHARE * self.ceiling_ops_per_s
    }

    /// Returns the lowest rate at which the longest plain probe can tell of the limit.
    pub(super) fn floor_ops_per_s(&self) -> f64 {
        self.arrivals_needed() / self.longest().as_secs_f64()
    }

    /// Returns the length of the first probe at a rate: longer when it needs the operations.
    pub(super) fn plain(&self, ops_per_s: f64) -> Nanos {
        self.with_enough(ops_per_s, self.probe).min(self.longest())
    }

    /// Returns the length of the probe after one that could not tell.
    pub(super) fn longest(&self) -> Nanos {
        times(self.probe, LONGER)
    }

    /// Returns the length of a confirmation.
    pub(super) fn confirmation(&self, ops_per_s: f64) -> Nanos {
        let length = times(self.probe, CONFIRM).min(LONGEST_CONFIRM.max(self.probe));
        self.with_enough(ops_per_s, length).min(length.max(self.longest()))
    }

    /// Returns `length`, or the time in which enough operations arrive at this rate.
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    #[expect(clippy::cast_sign_loss, reason = "neither factor is negative")]
    fn with_enough(&self, ops_per_s: f64, length: Nanos) -> Nanos {
        let seconds = (self.arrivals_needed() / ops_per_s).ceil();
        length.max(Nanos((seconds * 1e9) as u64))
    }

    /// Returns the mean number of arrivals for which the operations needed are there for certain.
    fn arrivals_needed(&self) -> f64 {
        let needed = crate::window::float(self.limit.operations_needed());
        // Three standard deviations of a Poisson count.
        needed + 3.0 * needed.sqrt()
    }
}

fn times(span: Nanos, factor: u64) -> Nanos {
    Nanos(span.0.saturating_mul(factor))
}
