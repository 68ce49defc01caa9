//! Something that ran or was unusual in some seconds of a time line.

use model::float;

use super::stall::TimelineStall;

/// Something that ran or was unusual in some seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// What, as in `checkpoint`.
    pub label: String,
    /// Whether it is work that runs, and not a quantity beyond its usual size.
    pub is_work: bool,
    /// Whether the activity ran in each interval: at its begin, within it or at its end.
    pub held: Vec<bool>,
    /// Bytes that the activity wrote in each interval, where they are counted.
    pub bytes: Option<Vec<f64>>,
    /// Stalls in which the activity ran.
    pub stalls: usize,
    /// Seconds of stalls in which the activity ran.
    pub stalled_seconds: usize,
    /// Counted seconds in which the activity ran.
    pub seconds: usize,
}

impl Activity {
    /// Returns whether the activity ran in a stall.
    pub fn is_in(&self, stall: &TimelineStall) -> bool {
        let (from, to) = stall.intervals;
        self.held[from..to].contains(&true)
    }

    /// Returns its spans: the first interval of each, and the one after its last.
    pub fn spans(&self) -> Vec<(usize, usize)> {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for at in (0..self.held.len()).filter(|at| self.held[*at]) {
            match spans.last_mut() {
                Some((_, end)) if *end == at => *end = at + 1,
                _ => spans.push((at, at + 1)),
            }
        }
        spans
    }

    /// Returns how many times as frequent it is in seconds of stalls as in all seconds.
    ///
    /// `all` and `stalled` count the seconds of the time line; `None` where it is in no second that
    /// counts.
    pub(super) fn excess(&self, all: usize, stalled: usize) -> Option<f64> {
        let share =
            |count: usize, of: usize| (of > 0).then(|| float(count as u64) / float(of as u64));
        let usual = share(self.seconds, all).filter(|share| *share > 0.0)?;
        Some(share(self.stalled_seconds, stalled)? / usual)
    }

    /// Returns the bytes that it wrote in some intervals; `None` where they are not counted.
    pub fn bytes_in(&self, (from, to): (usize, usize)) -> Option<f64> {
        Some(self.bytes.as_ref()?[from..to].iter().sum())
    }
}
