//! The search for the highest rate that meets a limit and can be sustained.

use model::honesty::{Purpose, SearchRecord};
use model::{Limit, Nanos};

use crate::probe::{Next, Probe, ProbeLoad, Search, Seen};

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

impl RateSpec {
    /// Returns the precision that probes of this length are good for: 1.02, or 1.05 below 10 s.
    ///
    /// Source: the project's reference, analysis, section 5.3.
    #[must_use]
    pub fn precision_for(probe: Nanos) -> f64 {
        if probe < Nanos::from_secs(10) { 1.05 } else { 1.02 }
    }
}

/// The search for the highest rate that meets a limit and can be sustained.
#[derive(Debug, Clone)]
pub struct RateSearch {
    record: SearchRecord,
    next: Next,
}

impl RateSearch {
    /// Returns a search that has told and heard nothing yet.
    #[must_use]
    pub fn new(spec: RateSpec) -> Self {
        let probe = Probe {
            number: 0,
            purpose: Purpose::Capacity,
            load: ProbeLoad::Closed { clients: spec.clients },
            is_drained_before: true,
            warmup: spec.warmup,
            measure: spec.probe,
        };
        let record = SearchRecord {
            limit: Some(spec.limit),
            probes: Vec::new(),
            found: None,
            ended: String::new(),
            is_path_dependent: false,
        };
        Self { record, next: Next::Probe(probe) }
    }
}

impl Search for RateSearch {
    fn next(&self) -> Next {
        self.next
    }

    fn tell(&mut self, seen: &Seen) {
        if let Some(why) = &seen.stop {
            self.record.ended.clone_from(why);
        }
        self.next = Next::Done;
    }

    fn record(&self) -> &SearchRecord {
        &self.record
    }
}
