//! Conversion of histograms to messages and summaries.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use load::{GroupTally, KindTally, StepTotals};
use model::buckets::BUCKETS;
use model::record::{OpSummaries, OpSummary};
use model::validity::ArrivalsRecord;
use model::{Buckets, Nanos, OpKind};

use crate::message::{KindTimes, StepEnds};

/// Returns a group's tally as a message.
pub(crate) fn times(group: &GroupTally) -> Vec<KindTimes> {
    let one = |(kind, tally): (&OpKind, &KindTally)| KindTimes {
        kind: *kind,
        counts: tally.counts,
        response: encode(&tally.response),
        service: encode(&tally.service),
    };
    group.iter().map(one).collect()
}

/// Returns a finished step as a message; settle, state and waits are added by the caller.
pub(crate) fn step_ends(index: u32, totals: &StepTotals) -> StepEnds {
    let arrivals = totals.arrivals.as_ref();
    StepEnds {
        index,
        duration: totals.duration,
        clients: times(&totals.clients),
        writers: times(&totals.writers),
        growth: totals.readings.clone(),
        arrivals: arrivals.map(|arrivals| ArrivalsRecord {
            pace: arrivals.pace,
            offered: arrivals.offered,
            censored: arrivals.censored.len(),
            start_lag: load::percentiles(&arrivals.start_lag),
            backlog_ns: arrivals.backlog,
        }),
        censored: arrivals.map(|arrivals| encode(&arrivals.censored)),
        holds: totals.holds,
        end: totals.end.clone(),
        ..StepEnds::default()
    }
}

/// Decodes a group's message.
///
/// # Errors
/// A text when a histogram does not decode: a foreign worker, or overwritten memory.
pub(crate) fn decode_times(times: &[KindTimes]) -> Result<GroupTally, String> {
    let one = |times: &KindTimes| {
        let (response, service) = (decode(&times.response)?, decode(&times.service)?);
        Ok((times.kind, KindTally { counts: times.counts, response, service }))
    };
    times.iter().map(one).collect()
}

/// Returns counts and percentiles by kind, as records store them.
pub(crate) fn summaries(group: &GroupTally) -> OpSummaries {
    let one = |(kind, tally): (&OpKind, &KindTally)| {
        let response = load::percentiles(&tally.response);
        let service = load::percentiles(&tally.service);
        (*kind, OpSummary { counts: tally.counts, response, service })
    };
    group.iter().map(one).collect()
}

/// Adds a group's service times to the ten buckets of each kind, to their resolution of 0.1 %.
fn add_to_buckets(buckets: &mut Buckets, group: &GroupTally, bounds: &[Nanos; BUCKETS - 1]) {
    for (kind, tally) in group {
        let own = buckets.entry(*kind).or_default();
        let mut before = 0;
        let counts = bounds.iter().map(|bound| count_within(&tally.service, *bound));
        for (bucket, within) in own.iter_mut().zip(counts.chain([tally.service.len()])) {
            *bucket += within.saturating_sub(before);
            before = within;
        }
    }
}

/// Returns the service times of clients and background writers in the buckets of these bounds.
pub(crate) fn buckets(
    [clients, writers]: [&GroupTally; 2],
    bounds: &[Nanos; BUCKETS - 1],
) -> Buckets {
    let mut buckets = Buckets::new();
    add_to_buckets(&mut buckets, clients, bounds);
    add_to_buckets(&mut buckets, writers, bounds);
    buckets
}

/// Adds a group to a sum.
pub(crate) fn add(sum: &mut GroupTally, group: &GroupTally) {
    for (kind, tally) in group {
        sum.entry(*kind).or_default().merge(tally);
    }
}

/// Adds the ages of arrivals that were not served to the most frequent kind.
pub(crate) fn add_censored(sum: &mut GroupTally, ages: &Histogram<u64>) {
    if let Some(most) = sum.values_mut().max_by_key(|tally| tally.counts.done) {
        most.response.add(ages).expect("all tallies have one layout");
    }
}

/// Returns the operations whose response time is within a limit, all kinds together.
pub(crate) fn within(group: &GroupTally, limit: Nanos) -> u64 {
    group.values().map(|tally| count_within(&tally.response, limit)).sum()
}

/// Returns how many values of a histogram are `limit` or less, to its resolution of 0.1 %.
pub(crate) fn count_within(histogram: &Histogram<u64>, limit: Nanos) -> u64 {
    histogram.count_between(0, limit.0)
}

/// Returns the longest response time, all kinds together.
pub(crate) fn longest_of(summaries: &OpSummaries) -> Nanos {
    Nanos(summaries.values().map(|summary| summary.response.max_ns).max().unwrap_or(0))
}

/// Encodes a histogram: HdrHistogram V2, base64.
pub(crate) fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("serialising to memory does not fail");
    STANDARD.encode(&bytes)
}

/// Decodes a worker's histogram within the limits of those of an archive.
pub(crate) fn decode(text: &str) -> Result<Histogram<u64>, String> {
    archive::decode_histogram(text).map_err(|error| format!("a broken histogram: {error}"))
}

#[cfg(test)]
mod tests {
    use model::buckets::{BUCKET_BOUNDS, FINE_BOUNDS};

    use super::*;

    #[test]
    fn service_times_fall_into_the_bucket_whose_bound_they_reach() {
        let mut tally = KindTally::default();
        for (ns, count) in [(100_000, 3), (256_000, 1), (300_000, 2), (20_000_000_000, 4)] {
            tally.service.record_n(ns, count).unwrap();
        }
        let group = [(OpKind::Insert, tally)].into();
        let of = |bounds| buckets([&group, &group], bounds)[&OpKind::Insert];
        assert_eq!(of(&BUCKET_BOUNDS), [8, 4, 0, 0, 0, 0, 0, 0, 0, 8]);
        assert_eq!(of(&FINE_BOUNDS), [0, 0, 0, 0, 0, 0, 6, 6, 0, 8]);
    }

    /// Goal: a hostile worker's histogram takes no memory, and overflows no sum.
    #[test]
    fn a_worker_s_histogram_has_the_limits_of_an_archived_one() {
        let mut tally = KindTally::default();
        tally.service.record_n(5, 7).unwrap();
        assert_eq!(decode(&encode(&tally.service)).unwrap(), tally.service);
        tally.service.record_n(9, u64::MAX / 4).unwrap();
        let other = Histogram::<u64>::new_with_bounds(1, u64::MAX / 2, 5).unwrap();
        for (histogram, reason) in
            [(&tally.service, "more values than can"), (&other, "not a histogram of up to 1 h")]
        {
            let error = decode(&encode(histogram)).unwrap_err();
            assert!(error.starts_with("a broken histogram: ") && error.contains(reason), "{error}");
        }
    }
}
