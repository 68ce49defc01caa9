//! Sum of what a group's clients counted in an interval.

use std::collections::BTreeMap;

use fold::GroupTally;
use model::OpKind;
use model::record::OpCounts;

use super::ranges::Ranges;

/// Counts and times of one kind of operation, of several clients.
#[derive(Debug, Default)]
pub(super) struct KindSum {
    pub(super) counts: OpCounts,
    pub(super) service: Ranges<u64>,
    pub(super) response: Ranges<u64>,
}

/// Counts and times of several clients, by kind of operation.
///
/// Much smaller than a [`GroupTally`]: intervals may have to wait for a client for minutes.
#[derive(Debug, Default)]
pub(crate) struct GroupSum {
    pub(super) kinds: BTreeMap<OpKind, KindSum>,
    /// Start lags, in buckets of the same layout.
    pub(crate) start_lag: Ranges<u64>,
}

impl GroupSum {
    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (kind, other) in &other.kinds {
            let sum = self.kinds.entry(*kind).or_default();
            sum.counts.merge(&other.counts);
            sum.service.merge(&other.service);
            sum.response.merge(&other.response);
        }
        self.start_lag.merge(&other.start_lag);
    }

    /// Adds the sum to a group's counts and histograms.
    pub(crate) fn add_to(&self, group: &mut GroupTally) {
        for (kind, sum) in &self.kinds {
            let tally = group.entry(*kind).or_default();
            tally.counts.merge(&sum.counts);
            sum.service.add_to(&mut tally.service);
            sum.response.add_to(&mut tally.response);
        }
    }

    /// Returns the bytes of its counters.
    pub(crate) fn bytes(&self) -> u64 {
        let kinds = self.kinds.values().map(|sum| sum.service.bytes() + sum.response.bytes());
        kinds.sum::<u64>() + self.start_lag.bytes()
    }
}
