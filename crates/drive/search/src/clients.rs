//! The search for the best number of clients of a closed loop.

use model::honesty::{Purpose, SearchRecord};
use model::{Limit, Nanos};

use crate::probe::{Next, Probe, ProbeLoad, Search, Seen};

/// What the search for the best number of clients has to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientSpec {
    /// What the operations must keep, if anything.
    pub limit: Option<Limit>,
    /// Most clients to try.
    pub max_clients: u32,
    /// Measured span of a probe; single probes are longer when they have to be.
    pub probe: Nanos,
    /// Unmeasured time before each probe.
    pub warmup: Nanos,
}

/// The search for the best number of clients of a closed loop.
#[derive(Debug, Clone)]
pub struct ClientSearch {
    record: SearchRecord,
    next: Next,
}

impl ClientSearch {
    /// Returns a search that has told and heard nothing yet.
    #[must_use]
    pub fn new(spec: ClientSpec) -> Self {
        let probe = Probe {
            number: 0,
            purpose: Purpose::Clients,
            load: ProbeLoad::Closed { clients: 1 },
            is_drained_before: true,
            warmup: spec.warmup,
            measure: spec.probe,
        };
        let record = SearchRecord {
            limit: spec.limit,
            probes: Vec::new(),
            found: None,
            ended: String::new(),
            is_path_dependent: false,
        };
        Self { record, next: Next::Probe(probe) }
    }
}

impl Search for ClientSearch {
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
