//! What several workers measured, added up: histograms are added, percentiles never averaged.

use std::collections::BTreeMap;

use fold::{Counts, GroupTally, Groups, merge};
use hdrhistogram::Histogram;
use load::{StepEnd, empty_histogram};
use model::record::OpCounts;
use model::validity::{ArrivalsRecord, Calibration};
use model::{Metric, OpKind, Readings, metric};

use crate::message::{CensoredAges, DecodedTimes, IntervalMessage, StepEnds};
use crate::tally::{decode, encode, take_times};

/// Readings of a worker that are spans of time: the longest counts.
const SPANS: [Metric; 2] = [metric::WORKER_SAMPLED_US, metric::PAUSE_US];

/// Adds the intervals of one second, at least one.
///
/// The first worker alone reads the engine: its readings stay.
///
/// # Errors
/// A text when a histogram does not decode.
pub(super) fn interval(mut all: Vec<IntervalMessage>) -> Result<IntervalMessage, String> {
    let mut groups = Groups { clients: GroupTally::new(), writers: GroupTally::new() };
    let mut start_lag: Option<Histogram<u64>> = None;
    for one in &mut all {
        let times = take_times(one)?;
        add_group(&mut groups.clients, &times.groups.clients);
        add_group(&mut groups.writers, &times.groups.writers);
        if let Some(lag) = times.start_lag {
            let sum = start_lag.get_or_insert_with(empty_histogram);
            sum.add(&lag).map_err(|error| format!("histograms cannot be added: {error}"))?;
        }
    }
    let growth = growth(all.iter().map(|one| &one.growth));
    let length = all.iter().map(|one| one.length).max().unwrap_or_default();
    let backlog = all.iter().map(|one| one.backlog).max().unwrap_or_default();
    let spanning = all.iter().flat_map(|one| one.spanning.clone()).collect();
    let first = all.into_iter().next().ok_or("no worker has this interval")?;
    let decoded = Some(Box::new(DecodedTimes { groups, start_lag }));
    Ok(IntervalMessage { decoded, growth, length, backlog, spanning, ..first })
}

/// Adds a group; a kind without operations stays.
fn add_group(sum: &mut GroupTally, group: &GroupTally) {
    for kind in group.keys() {
        sum.entry(*kind).or_default();
    }
    merge(sum, group);
}

/// Adds the ends of a step, of which the first has the settle and the state of the engine.
///
/// # Errors
/// A text when a histogram does not decode.
pub(super) fn step_ends(all: Vec<(&str, StepEnds)>) -> Result<StepEnds, String> {
    let ends = all.iter().map(|(_, ends)| ends);
    let mut counts = Counts::default();
    for one in ends.clone() {
        add(&mut counts.clients, &one.counts.clients);
        add(&mut counts.writers, &one.counts.writers);
    }
    let growth = growth(ends.clone().map(|one| &one.growth));
    let duration = ends.clone().map(|one| one.duration).max().unwrap_or_default();
    let arrivals =
        ends.clone().filter_map(|one| one.arrivals.clone()).reduce(|sum, one| ArrivalsRecord {
            offered: sum.offered + one.offered,
            censored: sum.censored + one.censored,
            backlog_ns: sum.backlog_ns.max(one.backlog_ns),
            ..sum
        });
    let censored = || ends.clone().filter_map(|one| one.censored.as_ref());
    let ages = histograms(censored().map(|censored| censored.ages.as_str()))?;
    let kind = censored().find_map(|censored| censored.kind);
    let censored = ages.map(|ages| CensoredAges { kind, ages: encode(&ages) });
    let mut findings = Vec::new();
    for finding in ends.flat_map(|one| &one.findings) {
        if !findings.contains(finding) {
            findings.push(finding.clone());
        }
    }
    let end = end(&all);
    let first = all.into_iter().next().map(|(_, ends)| ends).ok_or("no worker has this step")?;
    Ok(StepEnds { counts, growth, duration, arrivals, censored, findings, end, ..first })
}

/// Returns how the step ended: by the first failure, with the name of its host.
fn end(all: &[(&str, StepEnds)]) -> StepEnd {
    let failed = |(host, ends): &(&str, StepEnds)| match &ends.end {
        StepEnd::Failed { reason } => {
            Some(StepEnd::Failed { reason: format!("client host {host}: {reason}") })
        }
        StepEnd::Wrong { reason } => {
            Some(StepEnd::Wrong { reason: format!("client host {host}: {reason}") })
        }
        StepEnd::Finished | StepEnd::Stopped => None,
    };
    let stopped = || all.iter().map(|(_, ends)| &ends.end).find(|end| **end == StepEnd::Stopped);
    all.iter().find_map(failed).or_else(|| stopped().cloned()).unwrap_or_default()
}

/// Adds what several hosts can do; the least exact of them decides the lag.
pub(super) fn calibration(all: impl Iterator<Item = Calibration>) -> Option<Calibration> {
    all.reduce(|sum, one| {
        let p99 = |it: &Calibration| it.start_lag.as_ref().map(|lag| lag.p99_ns);
        let worst = if p99(&one) > p99(&sum) { one.clone() } else { sum.clone() };
        Calibration {
            clients: sum.clients + one.clients,
            closed_ns_per_op: sum.closed_ns_per_op.max(one.closed_ns_per_op),
            ceiling_ops_per_s: sum.ceiling_ops_per_s + one.ceiling_ops_per_s,
            ..worst
        }
    })
}

/// Adds the growth of counters; of spans of time the longest counts.
fn growth<'a>(all: impl Iterator<Item = &'a Readings>) -> Readings {
    let mut sum = Readings::new();
    let mut spans = Readings::new();
    for one in all {
        sum.merge(one);
        spans.raise(one.iter().filter(|(name, _)| SPANS.iter().any(|it| it.name == *name)));
    }
    sum.extend(spans);
    sum
}

fn add(sum: &mut BTreeMap<OpKind, OpCounts>, counts: &BTreeMap<OpKind, OpCounts>) {
    for (kind, counts) in counts {
        sum.entry(*kind).or_default().merge(counts);
    }
}

/// Adds encoded histograms; `None` without any.
fn histograms<'a>(all: impl Iterator<Item = &'a str>) -> Result<Option<Histogram<u64>>, String> {
    let mut sum = None;
    for text in all {
        let one = decode(text)?;
        let sum = sum.get_or_insert_with(empty_histogram);
        sum.add(&one).map_err(|error| format!("histograms cannot be added: {error}"))?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use fold::KindTally;
    use model::Nanos;

    use super::*;
    use crate::message::KindTimes;
    use crate::tally::times;

    /// Returns an interval with one operation of each of these response times, ns.
    fn taken(times_ns: &[u64], lag_ns: u64, growth_us: f64) -> IntervalMessage {
        let mut tally = KindTally::default();
        for ns in times_ns {
            tally.counts.done += 1;
            tally.response.record(*ns).unwrap();
            tally.service.record(*ns).unwrap();
        }
        let mut lag = empty_histogram();
        lag.record(lag_ns).unwrap();
        let growth = [(metric::HARNESS_CPU_US, growth_us), (metric::PAUSE_US, growth_us)];
        IntervalMessage {
            probe: None,
            is_warmup: false,
            start: Nanos(0),
            length: Nanos(times_ns.len() as u64),
            clients: times(&[(OpKind::Get, tally)].into()),
            writers: Vec::new(),
            start_lag: Some(encode(&lag)),
            backlog: Nanos(lag_ns),
            growth: growth.into_iter().collect(),
            engine: [(metric::RSS_BYTES, growth_us)].into_iter().collect(),
            tables: model::TableReadings::new(),
            spanning: Vec::new(),
            decoded: None,
        }
    }

    /// Goal: the histogram of two hosts has all operations, and is not an average.
    #[test]
    fn merged_histogram_equals_the_sum() {
        let (one, two) = ([1_000, 2_000, 9_000_000], [500, 700_000]);
        let mut merged = interval(vec![taken(&one, 5, 3.0), taken(&two, 900, 4.0)]).unwrap();
        let both = [&one[..], &two[..]].concat();
        let expected = taken(&both, 5, 0.0);
        let DecodedTimes { groups, start_lag } = take_times(&mut merged).unwrap();
        let text = |times: &[KindTimes]| serde_json::to_string(times).unwrap();
        assert_eq!(text(&times(&groups.clients)), text(&expected.clients));
        let lag = start_lag.unwrap();
        assert_eq!((lag.len(), lag.max() >= 900), (2, true));
        assert_eq!((merged.backlog, merged.length), (Nanos(900), Nanos(3)));
        let value = |metric| merged.growth.value(metric);
        assert_eq!(value(metric::HARNESS_CPU_US), Some(7.0), "a counter");
        assert_eq!(value(metric::PAUSE_US), Some(4.0), "a span");
        assert_eq!(merged.engine.value(metric::RSS_BYTES), Some(3.0), "of the first");
        let mut broken = taken(&one, 5, 3.0);
        broken.clients[0].response = "AAAA".to_owned();
        assert!(interval(vec![taken(&one, 5, 3.0), broken]).is_err());
    }

    #[test]
    fn a_failed_host_is_named_before_those_that_were_stopped_for_it() {
        let ended = |end: StepEnd, done: u64| {
            let mut ends = StepEnds::without_clients(3, end);
            ends.counts.clients.entry(OpKind::Get).or_default().done = done;
            ends
        };
        let failed = StepEnd::Failed { reason: "no room".to_owned() };
        let all = vec![("c1", ended(StepEnd::Stopped, 5)), ("c2", ended(failed, 7))];
        let merged = step_ends(all).unwrap();
        assert_eq!(merged.counts.clients[&OpKind::Get].done, 12);
        let reason = "client host c2: no room".to_owned();
        assert_eq!((merged.index, merged.end), (3, StepEnd::Failed { reason }));
        let all = vec![("c1", ended(StepEnd::Finished, 5)), ("c2", ended(StepEnd::Finished, 7))];
        assert_eq!(step_ends(all).unwrap().end, StepEnd::Finished);
    }

    #[test]
    fn hosts_offer_together_what_each_can_and_the_worst_lag_counts() {
        let one = |ceiling_ops_per_s, p99_ns| Calibration {
            clients: 2,
            closed_ns_per_op: 10.0,
            ceiling_ops_per_s,
            start_lag: Some(model::record::Percentiles { p99_ns, ..Default::default() }),
            start_lag_ops_per_s: Some(5.0),
        };
        let all = calibration([one(1e6, 90), one(3e6, 70)].into_iter()).unwrap();
        assert_eq!((all.clients, all.ceiling_ops_per_s), (4, 4e6));
        assert_eq!(all.start_lag.map(|lag| lag.p99_ns), Some(90));
        assert!(calibration(std::iter::empty()).is_none());
    }
}
