//! Stalls of a time line, by throughput and by p99.

use stats::median;
use stats::time_profile::{Second, StallSpan, late_spans, stall_spans};

use super::series::TimeSeries;

/// A span of far lower throughput or far higher p99.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineStall {
    /// Its first interval, and the one after its last.
    pub intervals: (usize, usize),
    /// Throughput of its slowest second as a share of the step's median second.
    pub throughput_share: Option<f64>,
    /// Its highest p99 as a multiple of the p99 of the step's median second.
    pub p99_times: Option<f64>,
}

/// Finds the stalls among the seconds that count; the first two series are throughput and p99.
pub(super) fn find(counted: &[(usize, Second)], series: &[TimeSeries]) -> Vec<TimelineStall> {
    let values = |name: &str| {
        let found = series.iter().find(|one| one.table.is_none() && one.name.contains(name));
        found.map(|one| one.values.as_slice())
    };
    let (rates, latencies) = (values(super::series::THROUGHPUT), values("_ns_p99"));
    let at = |values: Option<&[Option<f64>]>, at: usize| values.and_then(|all| all[at]);
    let seconds: Vec<Second> = counted.iter().map(|(_, second)| *second).collect();
    let timed =
        counted.iter().filter_map(|(place, second)| Some((*second, at(latencies, *place)?)));
    let mut spans = stall_spans(&seconds);
    spans.extend(late_spans(&timed.collect::<Vec<_>>()));
    let of = |values| -> Vec<f64> {
        counted.iter().filter_map(|(place, _)| at(values, *place)).collect()
    };
    let (usual_rate, usual_p99) = (median(&of(rates)), median(&of(latencies)));
    let stall = |span: &StallSpan| {
        let is_in = |second: &Second| (span.start_ns..span.end()).contains(&second.start_ns);
        let own: Vec<usize> =
            counted.iter().filter(|(_, second)| is_in(second)).map(|(at, _)| *at).collect();
        let known = |values| own.iter().filter_map(move |place| at(values, *place));
        let slowest = known(rates).reduce(f64::min);
        let latest = known(latencies).reduce(f64::max);
        let quotient = |value: Option<f64>, by: Option<f64>| {
            value.zip(by.filter(|by| *by > 0.0)).map(|(value, by)| value / by)
        };
        Some(TimelineStall {
            intervals: (*own.first()?, own.last()? + 1),
            throughput_share: quotient(slowest, usual_rate),
            p99_times: quotient(latest, usual_p99),
        })
    };
    united(spans).iter().filter_map(stall).collect()
}

/// Returns the spans in order, those that touch as one.
fn united(mut spans: Vec<StallSpan>) -> Vec<StallSpan> {
    spans.sort_by_key(|span| span.start_ns);
    let mut united: Vec<StallSpan> = Vec::new();
    for span in spans {
        match united.last_mut() {
            Some(last) if span.start_ns <= last.end() => {
                last.length_ns = last.end().max(span.end()).since(last.start_ns);
            }
            _ => united.push(span),
        }
    }
    united
}

/// Returns whether each of `count` intervals is in a stall.
pub(super) fn stalled(count: usize, stalls: &[TimelineStall]) -> Vec<bool> {
    let mut stalled = vec![false; count];
    for (from, to) in stalls.iter().map(|stall| stall.intervals) {
        stalled[from..to].fill(true);
    }
    stalled
}
