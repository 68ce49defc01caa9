//! Which rate comes next, given which passed and which failed.
//!
//! Not here: how long a probe is, what makes it pass, and probes that have to be repeated.
//!
//! Invariants: whatever the answers, it ends after a bounded number of them; the rate it ends with
//! is the highest that passed a confirmation; nothing beyond the cap is tried.

use model::honesty::Purpose;

/// The way through the rates.
#[derive(Debug, Clone)]
pub(super) struct Course {
    span: Span,
    precision: f64,
    /// Rates that passed, latest last.
    passed: Vec<f64>,
    /// Rates that failed.
    failed: Vec<f64>,
    /// Highest rate believed to pass.
    low: Option<f64>,
    /// Lowest rate believed to fail.
    high: Option<f64>,
    /// Factor between rates of the bracket.
    factor: f64,
    is_rechecked: bool,
    is_path_dependent: bool,
    /// Times that a rate above the bracket passed.
    rises: u32,
    /// Confirmations asked for.
    confirmations: u32,
    /// Factor from a confirmation that failed down to the next.
    ///
    /// The first step is the precision: a bracket as wide as that holds the answer, or lies one
    /// width too high. Each further step is twice as far, because short probes that all missed the
    /// growth of debt may have missed it by far.
    step_down: f64,
    /// Highest rate that passed its confirmation.
    confirmed: Option<f64>,
}

/// The rates that can be offered, operations per second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// Lowest rate worth trying.
    pub floor: f64,
    /// Highest rate that the client can offer.
    pub cap: f64,
}

/// How a rate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It kept the limit and can be sustained.
    Passed,
    /// It did not.
    Failed,
    /// Nobody could tell: taken as failed, until a confirmation can.
    Undecided,
    /// The client was late each time: the rate is not offered again, nor any above it.
    Late,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Move {
    /// This rate, operations per second.
    Try(Purpose, f64),
    /// Nothing: a rate was confirmed.
    Found,
    /// Nothing: no rate down to the floor passed.
    NoRate,
    /// Nothing: rates passed, and none could be confirmed.
    Unconfirmed,
}

/// Where the bracket begins, as a share of the closed loop's throughput, and its factor.
///
/// Source: the project's reference, analysis, section 5.3.
const BEGIN: f64 = 0.25;
const FACTOR: f64 = 1.5;
/// Factor after a rate above a finished bracket has passed: the truth is not far.
const SMALL_FACTOR: f64 = 1.1;
/// The rate that must fail, over the one found.
///
/// Source: the project's reference, analysis, section 5.3.
const ABOVE: f64 = 1.05;
/// Gap between a confirmed rate and one that failed which needs no narrowing, when the precision is
/// finer: a tenth of the time of a confirmation decides no better.
const CONFIRMED_GAP: f64 = 1.03;
/// Most times that the bracket is moved up.
const MOST_RISES: u32 = 2;
/// Most confirmations: six steps down reach a sixth of the first, and some to narrow.
const MOST_CONFIRMATIONS: u32 = 8;
/// Slack for comparisons of rates that were computed on different ways.
const SLACK: f64 = 1.0 + 1e-9;

impl Course {
    /// Returns a course and its first rate, given the closed loop's throughput.
    pub(super) fn begin(closed_ops_per_s: f64, span: Span, precision: f64) -> (Self, Move) {
        let course = Self {
            span,
            precision,
            passed: Vec::new(),
            failed: Vec::new(),
            low: None,
            high: None,
            factor: FACTOR,
            is_rechecked: false,
            is_path_dependent: false,
            rises: 0,
            confirmations: 0,
            step_down: precision,
            confirmed: None,
        };
        let first = (BEGIN * closed_ops_per_s).max(span.floor).min(span.cap);
        (course, Move::Try(Purpose::Bracket, first))
    }

    /// Takes how a rate ended, and returns what comes next.
    pub(super) fn answer(&mut self, purpose: Purpose, rate: f64, answer: Answer) -> Move {
        match answer {
            Answer::Passed => self.passed.push(rate),
            Answer::Failed => self.failed.push(rate),
            Answer::Undecided if purpose == Purpose::Confirm => self.failed.push(rate),
            Answer::Undecided | Answer::Late => (),
        }
        let has_passed = answer == Answer::Passed;
        match purpose {
            Purpose::Recheck => self.rechecked(rate, answer),
            Purpose::Above => self.above(rate, has_passed),
            Purpose::Confirm => self.confirmed(rate, has_passed),
            Purpose::Capacity | Purpose::Bracket | Purpose::Bisect | Purpose::Clients => {
                self.bounded(rate, has_passed)
            }
        }
    }

    /// Returns whether a rate that had passed failed when it was tried again.
    pub(super) fn is_path_dependent(&self) -> bool {
        self.is_path_dependent
    }

    /// Returns the lowest rate above `rate` that failed.
    pub(super) fn failed_above(&self, rate: f64) -> Option<f64> {
        self.failed.iter().copied().filter(|failed| *failed > rate).min_by(f64::total_cmp)
    }

    /// Returns the highest rate that passed its confirmation.
    pub(super) fn found(&self) -> Option<f64> {
        self.confirmed
    }

    /// Returns the confirmation of what is known, because there is no time for more.
    pub(super) fn hurry(&mut self) -> Move {
        match self.low {
            Some(low) => self.confirm(low),
            None => Move::NoRate,
        }
    }

    fn bounded(&mut self, rate: f64, has_passed: bool) -> Move {
        if has_passed {
            self.low = Some(rate);
            return self.narrow();
        }
        let is_first = self.high.is_none();
        self.high = Some(rate);
        match self.low {
            Some(low) if is_first && !self.is_rechecked => {
                self.is_rechecked = true;
                Move::Try(Purpose::Recheck, low)
            }
            _ => self.narrow(),
        }
    }

    fn rechecked(&mut self, rate: f64, answer: Answer) -> Move {
        if answer != Answer::Passed {
            self.is_path_dependent |= answer == Answer::Failed;
            self.high = Some(rate);
            let below = self.passed.iter().copied().filter(|passed| *passed * SLACK < rate);
            self.low = below.max_by(f64::total_cmp);
        }
        self.narrow()
    }

    fn above(&mut self, rate: f64, has_passed: bool) -> Move {
        if !has_passed {
            return match self.low {
                Some(low) => self.confirm(low),
                None => Move::NoRate,
            };
        }
        self.rises += 1;
        self.low = Some(rate);
        self.high = None;
        self.factor = SMALL_FACTOR;
        if self.rises >= MOST_RISES { self.confirm(rate) } else { self.up(rate) }
    }

    /// Returns the next rate between, above or below what is known.
    fn narrow(&mut self) -> Move {
        match (self.low, self.high) {
            (Some(low), Some(high)) if high <= low * self.precision * SLACK => {
                Move::Try(Purpose::Above, (low * ABOVE).min(self.span.cap))
            }
            (Some(low), Some(high)) => Move::Try(Purpose::Bisect, (low * high).sqrt()),
            (Some(low), None) => self.up(low),
            (None, Some(high)) => self.down(high),
            (None, None) => Move::NoRate,
        }
    }

    fn up(&mut self, low: f64) -> Move {
        if low * SLACK >= self.span.cap {
            return self.confirm(low);
        }
        Move::Try(Purpose::Bracket, (low * self.factor).min(self.span.cap))
    }

    fn down(&self, high: f64) -> Move {
        if high <= self.span.floor * SLACK {
            return Move::NoRate;
        }
        Move::Try(Purpose::Bracket, (high / FACTOR).max(self.span.floor))
    }

    fn confirm(&mut self, rate: f64) -> Move {
        self.confirmations += 1;
        Move::Try(Purpose::Confirm, rate)
    }

    /// Takes a confirmation: steps down until one passes, then narrows what is left open.
    ///
    /// Open are the rates up to the lowest that failed: those that no probe could decide, and
    /// those left out by a far step down.
    fn confirmed(&mut self, rate: f64, has_passed: bool) -> Move {
        if has_passed {
            self.confirmed = Some(rate);
        }
        let is_last = self.confirmations >= MOST_CONFIRMATIONS;
        let Some(found) = self.confirmed else {
            let next = rate / self.step_down;
            self.step_down *= self.step_down;
            if is_last || next < self.span.floor {
                return Move::Unconfirmed;
            }
            return self.confirm(next);
        };
        let gap = CONFIRMED_GAP.max(self.precision) * SLACK;
        match self.failed_above(found) {
            Some(failed) if !is_last && failed > found * gap => {
                self.confirm((found * failed).sqrt())
            }
            _ => Move::Found,
        }
    }
}
