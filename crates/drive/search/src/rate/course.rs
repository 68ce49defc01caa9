//! Which rate comes next, given which passed and which failed.
//!
//! Not here: how long a probe is, what makes it pass, and probes that have to be repeated.
//!
//! Invariants: whatever the answers, it ends after a bounded number of them; the rate it ends with
//! is the highest that passed a confirmation; nothing beyond the cap is tried.

use model::validity::Purpose;

/// The way through the rates.
#[derive(Debug, Clone)]
pub(super) struct Course {
    span: Span,
    precision: f64,
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
/// Most confirmations: six steps down reach a third of the first rate, and three narrow that.
const MOST_CONFIRMATIONS: u32 = 10;
/// Slack for comparisons of rates that were computed on different ways.
const SLACK: f64 = 1.0 + 1e-9;

impl Course {
    /// Returns a course and its first rate, given the closed loop's throughput.
    pub(super) fn begin(closed_ops_per_s: f64, span: Span, precision: f64) -> (Self, Move) {
        let course = Self {
            span,
            precision,
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
        let is_settled = answer == Answer::Failed
            || (answer == Answer::Undecided && purpose == Purpose::Confirm);
        if is_settled {
            self.failed.push(rate);
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
            // Whatever has passed did so before the state changed.
            self.low = None;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SPAN: Span = Span { floor: 10.0, cap: 1e6 };

    /// Plays a course to its end; `answer` is what happens at a rate.
    fn play(
        closed: f64,
        span: Span,
        mut answer: impl FnMut(Purpose, f64) -> Answer,
    ) -> (Course, Vec<(Purpose, f64)>, Move) {
        let (mut course, mut next) = Course::begin(closed, span, 1.02);
        let mut tried = Vec::new();
        while let Move::Try(purpose, rate) = next {
            tried.push((purpose, rate));
            assert!(tried.len() < 200, "{tried:?}");
            next = course.answer(purpose, rate, answer(purpose, rate));
        }
        (course, tried, next)
    }

    fn up_to(truth: f64) -> impl FnMut(Purpose, f64) -> Answer {
        move |_, rate| if rate <= truth { Answer::Passed } else { Answer::Failed }
    }

    #[test]
    fn the_order_is_bracket_recheck_bisect_above_confirm() {
        let (course, tried, end) = play(1000.0, SPAN, up_to(700.0));
        let mut purposes: Vec<Purpose> = tried.iter().map(|(purpose, _)| *purpose).collect();
        assert_eq!(tried.len(), 4 + 1 + 5 + 2, "{tried:?}");
        purposes.dedup();
        let order =
            [Purpose::Bracket, Purpose::Recheck, Purpose::Bisect, Purpose::Above, Purpose::Confirm];
        assert_eq!(purposes, order);
        let found = course.found().unwrap();
        assert!(end == Move::Found && found <= 700.0 && found > 700.0 / 1.02, "{found}");
        let failed = course.failed_above(found).unwrap();
        assert!(failed > 700.0 && failed <= found * 1.02, "{failed}");
        assert!(!course.is_path_dependent());
    }

    #[test]
    fn the_bracket_goes_down_when_its_first_rate_fails() {
        let (course, tried, _) = play(1000.0, SPAN, up_to(60.0));
        assert!((tried[0].1 - 250.0).abs() < 1e-9 && (tried[1].1 - 250.0 / 1.5).abs() < 1e-9);
        assert!((course.found().unwrap() / 60.0 - 1.0).abs() < 0.02);
        let (course, tried, end) = play(1000.0, SPAN, |_, _| Answer::Failed);
        assert_eq!((end, course.found()), (Move::NoRate, None));
        assert!((tried.last().unwrap().1 - SPAN.floor).abs() < 1e-9, "the floor is tried");
    }

    #[test]
    fn nothing_beyond_the_cap_is_tried() {
        let span = Span { floor: 10.0, cap: 400.0 };
        let (course, tried, end) = play(1000.0, span, |_, _| Answer::Passed);
        assert!(tried.iter().all(|(_, rate)| *rate <= 400.0));
        assert_eq!(end, Move::Found);
        assert!((course.found().unwrap() - 400.0).abs() < 1e-9);
        assert_eq!(course.failed_above(400.0), None);
    }

    #[test]
    fn a_recheck_that_fails_moves_the_bracket_down() {
        let mut is_spoilt = false;
        let (course, tried, _) = play(1000.0, SPAN, |_, rate| {
            let truth = if is_spoilt { 300.0 } else { 700.0 };
            is_spoilt |= rate > 700.0;
            if rate <= truth { Answer::Passed } else { Answer::Failed }
        });
        assert!(course.is_path_dependent());
        assert_eq!(tried.iter().filter(|(purpose, _)| *purpose == Purpose::Recheck).count(), 1);
        assert!((course.found().unwrap() / 300.0 - 1.0).abs() < 0.02, "{tried:?}");
    }

    #[test]
    fn a_rate_above_that_passes_moves_the_bracket_up() {
        let mut is_wrong = true;
        let (course, _, _) = play(1000.0, SPAN, |purpose, rate| {
            is_wrong &= purpose != Purpose::Above;
            let truth = if is_wrong { 500.0 } else { 700.0 };
            if rate <= truth { Answer::Passed } else { Answer::Failed }
        });
        assert!((course.found().unwrap() / 700.0 - 1.0).abs() < 0.03, "{:?}", course.found());
    }

    #[test]
    fn confirmations_step_down_twice_as_far_each_time_and_then_narrow() {
        let (course, tried, _) = play(1000.0, SPAN, |purpose, rate| {
            let truth = if purpose == Purpose::Confirm { 500.0 } else { 700.0 };
            if rate <= truth { Answer::Passed } else { Answer::Failed }
        });
        let confirmed: Vec<f64> =
            tried.iter().filter(|(purpose, _)| *purpose == Purpose::Confirm).map(|t| t.1).collect();
        assert!((confirmed[0] / confirmed[1] - 1.02).abs() < 1e-9, "{confirmed:?}");
        assert!((confirmed[1] / confirmed[2] - 1.02 * 1.02).abs() < 1e-9);
        assert!(confirmed.len() <= MOST_CONFIRMATIONS as usize);
        let found = course.found().unwrap();
        assert!(found <= 500.0 && found > 500.0 / 1.03, "{confirmed:?}");
        let (_, _, end) = play(1000.0, SPAN, |purpose, rate| match rate {
            _ if purpose == Purpose::Confirm => Answer::Failed,
            _ => Answer::Passed,
        });
        assert_eq!(end, Move::Unconfirmed);
    }

    #[test]
    fn what_short_probes_could_not_decide_is_confirmed_later() {
        let (course, _, _) = play(1000.0, SPAN, |purpose, rate| match (purpose, rate) {
            (Purpose::Confirm, _) if rate <= 700.0 => Answer::Passed,
            (_, rate) if rate <= 650.0 => Answer::Passed,
            (_, rate) if rate <= 750.0 && purpose != Purpose::Confirm => Answer::Undecided,
            _ => Answer::Failed,
        });
        assert!(course.found().unwrap() > 700.0 / 1.03, "{:?}", course.found());
    }

    #[test]
    fn a_rate_the_client_was_late_at_did_not_fail() {
        let (course, tried, end) = play(1000.0, SPAN, |_, rate| match rate {
            rate if rate > 500.0 => Answer::Late,
            _ => Answer::Passed,
        });
        assert_eq!(end, Move::Found);
        assert!((course.found().unwrap() / 500.0 - 1.0).abs() < 0.02, "{tried:?}");
        assert_eq!(course.failed_above(0.0), None);
    }

    proptest! {
        #[test]
        fn any_truth_is_found(truth in 12.0..9e5_f64, closed in 40.0..1e6_f64) {
            let (course, _, end) = play(closed, SPAN, up_to(truth));
            prop_assert_eq!(end, Move::Found);
            let found = course.found().unwrap();
            prop_assert!(found <= truth && found * 1.02 * SLACK >= truth, "{} {}", found, truth);
        }

        #[test]
        fn any_answers_lead_to_an_end(answers in prop::collection::vec(0..4_u8, 200)) {
            let mut answers = answers.into_iter();
            let (course, tried, _) = play(1000.0, SPAN, |_, _| match answers.next() {
                Some(0) => Answer::Failed,
                Some(1) => Answer::Undecided,
                Some(2) => Answer::Late,
                _ => Answer::Passed,
            });
            prop_assert!(tried.iter().all(|(_, rate)| (SPAN.floor..=SPAN.cap).contains(rate)));
            prop_assert!(course.found().is_none_or(|found| found >= SPAN.floor));
        }
    }
}
