//! Counts and times of one interval: a client's part, and the sum of a group's.

use std::collections::BTreeMap;

use model::OpKind;
use model::record::{OpCounts, SpanningOp};

use super::group::GroupTally;
use super::ranges::Ranges;

/// A bucket that is not empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    index: u16,
    count: u32,
}

impl Bucket {
    /// Returns a bucket of the common layout.
    #[expect(clippy::cast_possible_truncation, reason = "there are 33,792")]
    pub(super) const fn new(index: usize, count: u32) -> Self {
        Self { index: index as u16, count }
    }

    pub(super) fn count(&self) -> u64 {
        u64::from(self.count)
    }
}

/// One client's counts and times of one kind of operation.
#[derive(Debug)]
pub(super) struct KindPart {
    pub(super) kind: OpKind,
    pub(super) counts: OpCounts,
    /// Of the operations whose service time is their response time.
    pub(super) both: Vec<Bucket>,
    /// Of the others.
    pub(super) service: Vec<Bucket>,
    pub(super) response: Vec<Bucket>,
}

/// One client's part of an interval: some kB, whatever the layout's size.
#[derive(Debug, Default)]
pub(crate) struct TallyPart {
    pub(super) kinds: Vec<KindPart>,
    pub(super) lags: Vec<Bucket>,
    /// The longest operation that began in an earlier interval.
    pub(crate) spanning: Option<SpanningOp>,
}

impl TallyPart {
    /// Adds the start lags to a sum.
    pub(crate) fn add_lags(&self, sum: &mut Ranges<u64>) {
        add(sum, &self.lags);
    }
}

/// Counts and times of one kind of operation, of several clients.
#[derive(Debug, Default)]
struct KindSum {
    counts: OpCounts,
    service: Ranges<u64>,
    response: Ranges<u64>,
}

/// Sum of the parts of a group's clients, by kind of operation.
///
/// Much smaller than a [`GroupTally`]: intervals may have to wait for a client for minutes.
#[derive(Debug, Default)]
pub(crate) struct GroupSum(BTreeMap<OpKind, KindSum>);

impl GroupSum {
    /// Adds a client's part.
    pub(crate) fn add(&mut self, part: &TallyPart) {
        for KindPart { kind, counts, both, service, response } in &part.kinds {
            let sum = self.0.entry(*kind).or_default();
            sum.counts.merge(counts);
            add(&mut sum.service, both);
            add(&mut sum.response, both);
            add(&mut sum.service, service);
            add(&mut sum.response, response);
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (kind, other) in &other.0 {
            let sum = self.0.entry(*kind).or_default();
            sum.counts.merge(&other.counts);
            sum.service.merge(&other.service);
            sum.response.merge(&other.response);
        }
    }

    /// Adds the sum to a group's counts and histograms.
    pub(crate) fn add_to(&self, group: &mut GroupTally) {
        for (kind, sum) in &self.0 {
            let tally = group.entry(*kind).or_default();
            tally.counts.merge(&sum.counts);
            sum.service.add_to(&mut tally.service);
            sum.response.add_to(&mut tally.response);
        }
    }

    /// Returns the bytes of its counters.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.values().map(|sum| sum.service.bytes() + sum.response.bytes()).sum()
    }
}

fn add(sum: &mut Ranges<u64>, buckets: &[Bucket]) {
    for bucket in buckets {
        sum.add(usize::from(bucket.index), bucket.count());
    }
}
