//! Stalls: seconds with almost no operations.

use model::time_profile::Stalls;
use model::{Nanos, float};

use super::means::rolling_median;
use super::series::Second;

/// Share of the rolling median below which a second is a stall.
///
/// Our choice, as for the other limits of this file: a tenth is far below the noise of seconds, and
/// a stall of most of a second still counts.
const STALL_SHARE: f64 = 0.1;
/// Width of the rolling median, in seconds.
const AROUND: usize = 60;
/// Longest gap between two stalls that are joined.
const JOINED: Nanos = Nanos::from_secs(2);
/// Smallest rolling median at which stalls are detected.
///
/// At ten, a Poisson process has a second with one operation or none once in 2,000 seconds.
const MIN_USUAL: f64 = 10.0;

/// A stall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StallSpan {
    /// Its start, since the start of the measured span.
    pub start_ns: Nanos,
    /// Its length, gaps within included.
    pub length_ns: Nanos,
    /// Operations lost against the rolling median.
    pub lost_ops: f64,
}

/// Returns the stalls: seconds below 10 % of the rolling median.
///
/// Stalls that begin and end within one second do not show in seconds; the longest response time
/// shows them.
///
/// Source: our choice: a tenth of the median is far below the noise of seconds.
pub fn stall_spans(seconds: &[Second]) -> Vec<StallSpan> {
    let usual = usual_rates(seconds.iter());
    let is_stall = |(second, usual): &(&Second, f64)| second.ops_per_s < STALL_SHARE * usual;
    joined(seconds.iter().zip(usual).filter(is_stall))
}

/// Returns the spans of seconds whose latency is ten times its rolling median or more.
///
/// Of each second, with its latency: usually a high percentile. Operations are lost as in a stall.
///
/// Source: our choice: the reciprocal of the share of a stall.
pub fn late_spans(seconds: &[(Second, f64)]) -> Vec<StallSpan> {
    let latencies: Vec<f64> = seconds.iter().map(|(_, latency)| *latency).collect();
    let usual_latency = rolling_median(&latencies, AROUND);
    let usual = usual_rates(seconds.iter().map(|(second, _)| second));
    let late =
        seconds.iter().zip(usual).zip(usual_latency).filter_map(|((second, usual), level)| {
            let (second, latency) = second;
            (level > 0.0 && latency * STALL_SHARE >= level).then_some((second, usual))
        });
    joined(late)
}

/// Returns the rolling median of the rates.
fn usual_rates<'a>(seconds: impl Iterator<Item = &'a Second>) -> Vec<f64> {
    let rates: Vec<f64> = seconds.map(|second| second.ops_per_s).collect();
    rolling_median(&rates, AROUND)
}

/// Joins stalled seconds, each with its usual rate, into spans.
fn joined<'a>(stalled: impl Iterator<Item = (&'a Second, f64)>) -> Vec<StallSpan> {
    let mut found: Vec<StallSpan> = Vec::new();
    for (second, usual) in stalled.filter(|(_, usual)| *usual >= MIN_USUAL) {
        let lost_ops = (usual - second.ops_per_s).max(0.0) * second.length_ns.as_secs_f64();
        let end = second.start_ns.after(second.length_ns);
        match found.last_mut() {
            Some(last) if second.start_ns.since(last.end()) <= JOINED => {
                last.length_ns = end.since(last.start_ns);
                last.lost_ops += lost_ops;
            }
            _ => {
                let (start_ns, length_ns) = (second.start_ns, second.length_ns);
                found.push(StallSpan { start_ns, length_ns, lost_ops });
            }
        }
    }
    found
}

impl StallSpan {
    /// Returns its end.
    pub const fn end(&self) -> Nanos {
        self.start_ns.after(self.length_ns)
    }
}

/// Largest share of stalled seconds that are replaced.
const MAX_STALLED_SHARE: f64 = 0.2;

/// Returns the rates with each stalled second replaced by the one before it.
///
/// Where more than a fifth of the seconds is stalled, stalls are the normal behaviour: nothing is
/// changed.
pub(super) fn without(seconds: &[Second], spans: &[StallSpan]) -> Vec<f64> {
    let is_in = |second: &Second| {
        spans.iter().any(|span| (span.start_ns..span.end()).contains(&second.start_ns))
    };
    let is_stalled: Vec<bool> = seconds.iter().map(is_in).collect();
    let mut rates: Vec<f64> = seconds.iter().map(|second| second.ops_per_s).collect();
    let count = is_stalled.iter().filter(|is_stalled| **is_stalled).count();
    if count == 0 || float(count) > MAX_STALLED_SHARE * float(rates.len()) {
        return rates;
    }
    let first = is_stalled.iter().position(|is_stalled| !is_stalled);
    let mut last = first.map_or(0.0, |first| rates[first]);
    for (rate, is_stalled) in rates.iter_mut().zip(is_stalled) {
        if is_stalled {
            *rate = last;
        } else {
            last = *rate;
        }
    }
    rates
}

/// Returns the totals of all stalls.
pub(super) fn sum(spans: &[StallSpan]) -> Stalls {
    Stalls {
        count: u32::try_from(spans.len()).unwrap_or(u32::MAX),
        longest_ns: spans.iter().map(|span| span.length_ns).max().unwrap_or_default(),
        total_ns: Nanos(spans.iter().map(|span| span.length_ns.0).sum()),
        lost_ops: spans.iter().fold(0.0, |sum, span| sum + span.lost_ops),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(rates: &[f64]) -> Vec<Second> {
        let second = |(at, rate): (u64, &f64)| Second {
            start_ns: Nanos::from_secs(at),
            length_ns: Nanos::SECOND,
            ops_per_s: *rate,
        };
        (0..).zip(rates).map(second).collect()
    }

    #[test]
    fn close_stalls_are_joined() {
        let mut rates = [1000.0; 120];
        for (at, rate) in [(10, 0.0), (13, 99.0), (20, 0.0), (60, 50.0), (61, 0.0), (90, 101.0)] {
            rates[at] = rate;
        }
        let found = stall_spans(&seconds(&rates));
        let spans: Vec<(u64, u64)> =
            found.iter().map(|one| (one.start_ns.0, one.length_ns.0)).collect();
        let s = Nanos::SECOND.0;
        assert_eq!(spans, [(10 * s, 4 * s), (20 * s, s), (60 * s, 2 * s)]);
        let all = sum(&found);
        assert_eq!((all.count, all.longest_ns.0, all.total_ns.0), (3, 4 * s, 7 * s));
        assert!((all.lost_ops - (1000.0 + 901.0 + 1000.0 + 950.0 + 1000.0)).abs() < 1e-9);
    }

    /// Goal: a second of ten times the usual latency is one, whatever its throughput.
    #[test]
    fn late_seconds_are_found_by_their_latency() {
        let mut of_second: Vec<(Second, f64)> =
            seconds(&[1000.0; 100]).into_iter().map(|second| (second, 2e6)).collect();
        (of_second[30].1, of_second[32].1, of_second[60].1) = (20e6, 90e6, 19.9e6);
        of_second[32].0.ops_per_s = 700.0;
        let found = late_spans(&of_second);
        let s = Nanos::SECOND.0;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].start_ns.0, found[0].length_ns.0), (30 * s, 3 * s));
        assert!((found[0].lost_ops - 300.0).abs() < 1e-9);
        of_second.iter_mut().for_each(|(second, _)| second.ops_per_s = 5.0);
        assert_eq!(late_spans(&of_second), [], "of five operations a second, any is chance");
    }

    #[test]
    fn baseline_follows_the_rolling_median() {
        let rates: Vec<f64> = (0..200).map(|at| if at < 100 { 10_000.0 } else { 500.0 }).collect();
        assert_eq!(stall_spans(&seconds(&rates)), [], "a new level is no stall");
        let few: Vec<f64> = (0..100).map(|at| f64::from(at % 3)).collect();
        assert_eq!(stall_spans(&seconds(&few)), [], "a second without one of few is chance");
        assert_eq!(stall_spans(&[]), []);
    }

    #[test]
    fn few_stalls_are_replaced_and_many_are_not() {
        let mut rates = [1000.0; 40];
        (rates[0], rates[20], rates[21]) = (0.0, 0.0, 5.0);
        let stalled = seconds(&rates);
        assert_eq!(without(&stalled, &stall_spans(&stalled)), [1000.0; 40]);
        (8..16).for_each(|at| rates[at] = 0.0);
        let stalled = seconds(&rates);
        assert_eq!(without(&stalled, &stall_spans(&stalled)), rates);
    }

    #[test]
    fn missing_second_is_no_stall() {
        let mut valid = seconds(&[800.0; 30]);
        valid.drain(10..15);
        assert_eq!(stall_spans(&valid), []);
    }
}
