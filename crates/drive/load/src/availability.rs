//! Spans in which operations waited and no client had a success.

use model::{Nanos, TimeSpan};
use serde::{Deserialize, Serialize};

/// Longest time between two successes that is no gap.
///
/// Our choice: twice the pause between two attempts to connect, and longer than a usual commit.
const GAP_MIN: Nanos = Nanos::from_millis(10);

/// Most gaps of a client: those of [`model::EVENT_STEP_MAX`], and as many more.
const GAPS_MAX: usize = 720_000;

/// A span in which operations waited and no client had a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// Begin and end since the begin of the measured span.
    pub span: TimeSpan,
    /// Whether operations failed in it; else it may be a stall.
    pub has_failures: bool,
}

/// A time without a success of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    start: Nanos,
    end: Nanos,
    /// When the first operation in it was due; the end of time where none was.
    due: Nanos,
    has_failures: bool,
}

/// Notes the gaps of one client; costs a comparison for each operation.
#[derive(Debug)]
pub(crate) struct GapWatch {
    last_success: Nanos,
    /// When the first operation since the last success was due.
    waiting_since: Option<Nanos>,
    /// Whether an operation has failed since.
    has_failures: bool,
    gaps: Vec<Gap>,
}

impl GapWatch {
    /// Begins to watch a client.
    pub(crate) const fn begin(now: Nanos) -> Self {
        Self { last_success: now, waiting_since: None, has_failures: false, gaps: Vec::new() }
    }

    /// Notes an operation that was due then, and waits.
    pub(crate) fn note_waiting(&mut self, due: Nanos) {
        self.waiting_since.get_or_insert(due);
    }

    /// Notes an operation that was due then, and has failed.
    pub(crate) fn note_failure(&mut self, due: Nanos) {
        self.note_waiting(due);
        self.has_failures = true;
    }

    /// Notes the success of an operation that was due then.
    pub(crate) fn note_success(&mut self, due: Nanos, at: Nanos) {
        let due = self.waiting_since.take().unwrap_or(due);
        let has_failures = std::mem::take(&mut self.has_failures);
        if at.since(self.last_success) > GAP_MIN && self.gaps.len() < GAPS_MAX {
            self.gaps.push(Gap { start: self.last_success, end: at, due, has_failures });
        }
        self.last_success = at;
    }

    /// Returns the gaps; the last one has no end, and may wait for an arrival due then.
    pub(crate) fn end(mut self, unserved: Option<Nanos>) -> Vec<Gap> {
        let due = self.waiting_since.or(unserved).unwrap_or(Nanos(u64::MAX));
        let (start, end, has_failures) = (self.last_success, Nanos(u64::MAX), self.has_failures);
        self.gaps.push(Gap { start, end, due, has_failures });
        self.gaps
    }
}

/// Returns the spans in which every client had a gap and one of them waited, since `from`.
pub(crate) fn outages(clients: Vec<Vec<Gap>>, from: Nanos, to: Nanos) -> Vec<Outage> {
    let all = clients.into_iter().reduce(|all, own| common(&all, &own)).unwrap_or_default();
    let span = |gap: Gap| {
        let (start, end) = (gap.start.max(gap.due).max(from), gap.end.min(to));
        let span = TimeSpan { start_ns: start.since(from), end_ns: end.since(from) };
        let outage = Outage { span, has_failures: gap.has_failures };
        (end.since(start) > GAP_MIN).then_some(outage)
    };
    all.into_iter().filter_map(span).collect()
}

/// Returns the overlaps of two lists of gaps, each in the order of time.
fn common(one: &[Gap], other: &[Gap]) -> Vec<Gap> {
    let (mut at, mut overlaps) = ((0, 0), Vec::new());
    while let (Some(a), Some(b)) = (one.get(at.0), other.get(at.1)) {
        let (start, end) = (a.start.max(b.start), a.end.min(b.end));
        if start < end {
            let has_failures = a.has_failures || b.has_failures;
            overlaps.push(Gap { start, end, due: a.due.min(b.due).max(start), has_failures });
        }
        at = if a.end <= b.end { (at.0 + 1, at.1) } else { (at.0, at.1 + 1) };
    }
    overlaps
}

#[cfg(test)]
#[cfg(not(feature = "model-check"))]
mod tests {
    use super::*;

    fn at(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    /// Returns the gaps of a client with successes at these times; failures are negative.
    fn client(times: &[i64]) -> Vec<Gap> {
        let mut watch = GapWatch::begin(at(0));
        for time in times {
            let now = at(time.unsigned_abs());
            match *time < 0 {
                true => watch.note_failure(now),
                false => watch.note_success(now, now),
            }
        }
        watch.end(None)
    }

    fn spans(clients: Vec<Vec<Gap>>) -> Vec<(u64, u64)> {
        let found = outages(clients, at(100), at(1_000));
        let ms = |at: Nanos| at.0 / 1_000_000;
        found.iter().map(|it| (ms(it.span.start_ns), ms(it.span.end_ns))).collect()
    }

    #[test]
    fn an_outage_is_common_to_all_clients() {
        let (one, two) = ([200, -300, -400, 600, 608, 616], [250, -310, 606]);
        // From the first failure of either to the first success of either.
        assert_eq!(spans(vec![client(&one), client(&two)]), [(200, 500)]);
        let later = spans(vec![client(&one), client(&[400, -410])]);
        assert_eq!(later, [(200, 300), (300, 500), (516, 900)], "it waits to the end");
        assert_eq!(spans(vec![client(&[200, -205, 209]), client(&two)]), [(210, 506)]);
    }

    #[test]
    fn a_client_without_arrivals_is_not_unavailable() {
        assert_eq!(spans(vec![client(&[50, 400, 800])]), []);
        let mut watch = GapWatch::begin(at(0));
        watch.note_success(at(300), at(500));
        assert_eq!(spans(vec![watch.end(Some(at(900)))]), [(200, 400), (800, 900)]);
    }

    #[test]
    fn an_outage_before_the_measured_span_is_left_out() {
        assert_eq!(spans(vec![client(&[20, -30, 90, 95])]), []);
        assert_eq!(spans(vec![client(&[20, -30, 150])]), [(0, 50)]);
    }
}
