//! What counts of a probe: the intervals in which the client was not late.

use crate::probe::{Second, Seen};
use crate::stat::{Block, Share, share};

/// Largest share of a probe's time that may be void before the probe says nothing.
///
/// Source: the project's brief for the search; what is left must be most of the probe.
const MOST_VOID: f64 = 0.25;

/// The part of a probe that counts.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    seen: &'a Seen,
    /// The intervals that count, each with the time of its end since the probe's start, seconds.
    valid: Vec<(f64, &'a Second)>,
    /// Length of all intervals, seconds.
    total_s: f64,
}

impl<'a> Window<'a> {
    /// Returns the part of the probe that counts.
    pub(crate) fn of(seen: &'a Seen) -> Self {
        let mut total_s = 0.0;
        let mut valid = Vec::new();
        for second in &seen.seconds {
            total_s += second.length.as_secs_f64();
            if !second.is_void {
                valid.push((total_s, second));
            }
        }
        Self { seen, valid, total_s }
    }

    /// Returns the length of what counts, seconds.
    pub(crate) fn length_s(&self) -> f64 {
        self.valid.iter().map(|(_, second)| second.length.as_secs_f64()).sum()
    }

    /// Returns how long the probe was, void intervals included, seconds.
    pub(crate) fn total_s(&self) -> f64 {
        self.total_s
    }

    /// Returns whether too much of the probe is void, or nothing was seen at all.
    pub(crate) fn is_void(&self) -> bool {
        self.total_s <= 0.0 || self.length_s() < (1.0 - MOST_VOID) * self.total_s
    }

    /// Returns how many intervals are void.
    pub(crate) fn voids(&self) -> usize {
        self.seen.seconds.len() - self.valid.len()
    }

    /// Returns the operations that ended.
    pub(crate) fn ended(&self) -> u64 {
        self.valid.iter().map(|(_, second)| second.ended).sum()
    }

    /// Returns the operations done per second.
    pub(crate) fn throughput_ops_per_s(&self) -> f64 {
        per_second(self.ended(), self.length_s())
    }

    /// Returns the operations done within the limit per second.
    pub(crate) fn goodput_ops_per_s(&self) -> f64 {
        let good = self.valid.iter().map(|(_, second)| second.ended.saturating_sub(second.late));
        per_second(good.sum(), self.length_s())
    }

    /// Returns the throughput of each interval.
    pub(crate) fn throughputs(&self) -> Vec<f64> {
        let each = self.valid.iter().filter(|(_, second)| second.length.0 > 0);
        each.map(|(_, second)| per_second(second.ended, second.length.as_secs_f64())).collect()
    }

    /// Returns the arrivals that nobody served in time although the probe was over.
    ///
    /// None when the probe ended with a void interval: then they waited for the client.
    pub(crate) fn unserved(&self) -> u64 {
        let is_end_void = self.seen.seconds.last().is_some_and(|second| second.is_void);
        if is_end_void { 0 } else { self.seen.censored_late }
    }

    /// Returns the share of late operations; unserved arrivals are late.
    pub(crate) fn late_share(&self) -> Share {
        let block = |second: &Second| Block { all: float(second.ended), late: float(second.late) };
        let mut blocks: Vec<Block> = self.valid.iter().map(|(_, second)| block(second)).collect();
        if let Some(last) = blocks.last_mut() {
            last.all += float(self.unserved());
            last.late += float(self.unserved());
        }
        share(&blocks)
    }

    /// Returns a gauge over time, as `(seconds, value)`; empty when nobody tells it.
    pub(crate) fn gauge(&self, name: &str) -> Vec<(f64, f64)> {
        let point = |(at, second): &(f64, &Second)| Some((*at, *second.readings.get(name)?));
        self.valid.iter().filter_map(point).collect()
    }

    /// Returns the age of the oldest arrival not begun over time, as `(seconds, seconds)`.
    pub(crate) fn backlog(&self) -> Vec<(f64, f64)> {
        self.valid.iter().map(|(at, second)| (*at, second.backlog.as_secs_f64())).collect()
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { float(count) / seconds } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a probe stay far below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}
