//! Conversion of histograms to messages and summaries.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fold::{Counts, GroupTally, Groups, KindTally};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use load::StepTotals;
use model::OpKind;
use model::record::Percentiles;
use model::validity::ArrivalsRecord;

use crate::message::{CensoredAges, DecodedTimes, IntervalMessage, KindTimes, StepEnds};

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
///
/// `kind` is the kind of operation of arrivals not served where nothing was done.
pub(crate) fn step_ends(index: u32, totals: &StepTotals, kind: Option<OpKind>) -> StepEnds {
    let arrivals = totals.arrivals.as_ref();
    let counts =
        |group: &GroupTally| group.iter().map(|(kind, tally)| (*kind, tally.counts)).collect();
    StepEnds {
        index,
        duration: totals.duration,
        counts: Counts { clients: counts(&totals.clients), writers: counts(&totals.writers) },
        growth: totals.readings.clone(),
        arrivals: arrivals.map(|arrivals| ArrivalsRecord {
            pace: arrivals.pace,
            offered: arrivals.offered,
            censored: arrivals.censored.len(),
            start_lag: Percentiles::default(),
            backlog_ns: arrivals.backlog,
        }),
        censored: arrivals.map(|arrivals| CensoredAges { kind, ages: encode(&arrivals.censored) }),
        holds: totals.holds,
        begun: totals.begun,
        outages: totals.outages.clone(),
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

/// Takes the histograms of an interval.
///
/// # Errors
/// As [`decode_times`].
pub(crate) fn take_times(interval: &mut IntervalMessage) -> Result<DecodedTimes, String> {
    if let Some(decoded) = interval.decoded.take() {
        return Ok(*decoded);
    }
    let groups = Groups {
        clients: decode_times(&interval.clients)?,
        writers: decode_times(&interval.writers)?,
    };
    let start_lag = interval.start_lag.as_deref().map(decode).transpose()?;
    Ok(DecodedTimes { groups, start_lag })
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
    use super::*;

    /// Goal: a hostile worker's histogram takes no memory, and overflows no sum.
    #[test]
    fn a_worker_s_histogram_has_the_limits_of_an_archived_one() {
        let mut tally = KindTally::default();
        tally.service.record_n(5, 7).unwrap();
        assert_eq!(decode(&encode(&tally.service)).unwrap(), tally.service);
        tally.service.record_n(9, u64::MAX / 4).unwrap();
        let other = Histogram::<u64>::new_with_bounds(1, u64::MAX / 2, 5).unwrap();
        for (histogram, reason) in [
            (&tally.service, "more values than a run can count"),
            (&other, "not a histogram of up to 1 h"),
        ] {
            let error = decode(&encode(histogram)).unwrap_err();
            assert!(error.starts_with("a broken histogram: ") && error.contains(reason), "{error}");
        }
    }
}
