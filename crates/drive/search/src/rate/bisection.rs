//! Bracketing and bisection: chooses the next rate to try.
//!
//! Probe lengths, pass criteria and repeated probes are decided elsewhere.
//!
//! Invariants: it ends after a bounded number of rates, whatever their outcomes; its result is the
//! highest rate that passed a confirmation; no rate beyond the cap is tried.

use model::validity::Purpose;

/// State of the bisection.
#[derive(Debug, Clone)]
pub(super) struct Bisection {
    range: RateRange,
    precision: f64,
    /// Rates that failed.
    failed: Vec<f64>,
    /// Highest rate assumed to pass.
    low: Option<f64>,
    /// Lowest rate assumed to fail.
    high: Option<f64>,
    /// Factor between rates of the bracket.
    factor: f64,
    is_rechecked: bool,
    is_path_dependent: bool,
    /// Number of times a rate above the bracket passed.
    raises: u32,
    /// Confirmations requested.
    confirmations: u32,
    /// Factor from a confirmation that failed down to the next.
    ///
    /// The first step is the precision: a bracket of that width contains the result, or lies one
    /// width too high. Each further step is twice as far, because short probes that all missed the
    /// growth of debt may have missed it by far.
    step_down: f64,
    /// Highest rate that passed its confirmation.
    confirmed: Option<f64>,
}

/// Range of rates that can be offered, operations per second.
#[derive(Debug, Clone, Copy)]
pub(super) struct RateRange {
    /// Lowest rate worth trying.
    pub floor: f64,
    /// Highest rate that the client can offer.
    pub cap: f64,
}

/// Outcome of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RateOutcome {
    /// It met the limit and can be sustained.
    Passed,
    /// It did not meet the limit, or cannot be sustained.
    Failed,
    /// Undecided: treated as failed until a confirmation decides.
    Undecided,
    /// The client was late each time: this rate and higher ones are not offered again.
    ClientLate,
}

/// The next action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Action {
    /// Try this rate, operations per second.
    Try(Purpose, f64),
    /// End: a rate was confirmed.
    Found,
    /// End: no rate down to the floor passed.
    NoRate,
    /// End: rates passed, and none was confirmed.
    Unconfirmed,
}

/// Start of the bracket as a share of closed-loop throughput, and its factor.
///
/// Our choice: a quarter passes on most engines, and four steps of 1.5 pass the closed loop's
/// throughput.
const START_SHARE: f64 = 0.25;
const FACTOR: f64 = 1.5;
/// Factor after a rate above a finished bracket passed: the result is near.
const SMALL_FACTOR: f64 = 1.1;
/// Ratio of the rate that must fail to the one found.
///
/// Our choice: far enough above the precision of 2 % to fail clearly.
const ABOVE: f64 = 1.05;
/// Largest accepted ratio of a failed rate to a confirmed one.
///
/// Finer precision is not worth more confirmations: the short probes that decided the failed rate
/// are less precise.
const CONFIRMED_RATIO: f64 = 1.03;
/// Most upward moves of the bracket.
const MAX_RAISES: u32 = 2;
/// Most confirmations: six steps down reach a third of the first rate, and three narrow that.
const MAX_CONFIRMATIONS: u32 = 10;
/// Tolerance for comparing rates computed in different ways.
const SLACK: f64 = 1.0 + 1e-9;

impl Bisection {
    /// Returns a bisection and its first rate, from the closed loop's throughput.
    pub(super) fn begin(closed_ops_per_s: f64, range: RateRange, precision: f64) -> (Self, Action) {
        let bisection = Self {
            range,
            precision,
            failed: Vec::new(),
            low: None,
            high: None,
            factor: FACTOR,
            is_rechecked: false,
            is_path_dependent: false,
            raises: 0,
            confirmations: 0,
            step_down: precision,
            confirmed: None,
        };
        let first = (START_SHARE * closed_ops_per_s).max(range.floor).min(range.cap);
        (bisection, Action::Try(Purpose::Bracket, first))
    }

    /// Records the outcome of a rate and returns the next action.
    pub(super) fn observe(&mut self, purpose: Purpose, rate: f64, observe: RateOutcome) -> Action {
        let is_settled = observe == RateOutcome::Failed
            || (observe == RateOutcome::Undecided && purpose == Purpose::Confirm);
        if is_settled {
            self.failed.push(rate);
        }
        let has_passed = observe == RateOutcome::Passed;
        match purpose {
            Purpose::Recheck => self.rechecked(rate, observe),
            Purpose::Above => self.above(rate, has_passed),
            Purpose::Confirm => self.confirmed(rate, has_passed),
            Purpose::Capacity | Purpose::Bracket | Purpose::Bisect | Purpose::Clients => {
                self.bounded(rate, has_passed)
            }
        }
    }

    /// Returns whether a passed rate failed when rechecked.
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

    /// Returns the confirmation of the best rate so far, at the probe limit.
    pub(super) fn confirm_early(&mut self) -> Action {
        match self.low {
            Some(low) => self.confirm(low),
            None => Action::NoRate,
        }
    }

    fn bounded(&mut self, rate: f64, has_passed: bool) -> Action {
        if has_passed {
            self.low = Some(rate);
            return self.narrow();
        }
        let is_first = self.high.is_none();
        self.high = Some(rate);
        match self.low {
            Some(low) if is_first && !self.is_rechecked => {
                self.is_rechecked = true;
                Action::Try(Purpose::Recheck, low)
            }
            _ => self.narrow(),
        }
    }

    fn rechecked(&mut self, rate: f64, observe: RateOutcome) -> Action {
        if observe != RateOutcome::Passed {
            self.is_path_dependent |= observe == RateOutcome::Failed;
            self.high = Some(rate);
            // Rates passed before the state changed no longer count.
            self.low = None;
        }
        self.narrow()
    }

    fn above(&mut self, rate: f64, has_passed: bool) -> Action {
        if !has_passed {
            return match self.low {
                Some(low) => self.confirm(low),
                None => Action::NoRate,
            };
        }
        self.raises += 1;
        self.low = Some(rate);
        self.high = None;
        self.factor = SMALL_FACTOR;
        if self.raises >= MAX_RAISES { self.confirm(rate) } else { self.up(rate) }
    }

    /// Returns the next rate between, above or below the known ones.
    fn narrow(&mut self) -> Action {
        match (self.low, self.high) {
            (Some(low), Some(high)) if high <= low * self.precision * SLACK => {
                Action::Try(Purpose::Above, (low * ABOVE).min(self.range.cap))
            }
            (Some(low), Some(high)) => Action::Try(Purpose::Bisect, (low * high).sqrt()),
            (Some(low), None) => self.up(low),
            (None, Some(high)) => self.down(high),
            (None, None) => Action::NoRate,
        }
    }

    fn up(&mut self, low: f64) -> Action {
        if low * SLACK >= self.range.cap {
            return self.confirm(low);
        }
        Action::Try(Purpose::Bracket, (low * self.factor).min(self.range.cap))
    }

    fn down(&self, high: f64) -> Action {
        if high <= self.range.floor * SLACK {
            return Action::NoRate;
        }
        Action::Try(Purpose::Bracket, (high / FACTOR).max(self.range.floor))
    }

    fn confirm(&mut self, rate: f64) -> Action {
        self.confirmations += 1;
        Action::Try(Purpose::Confirm, rate)
    }

    /// Handles a confirmation: steps down until one passes, then narrows the open gap.
    ///
    /// The gap reaches up to the lowest rate that failed: undecided rates, and those skipped by a
    /// large step down.
    fn confirmed(&mut self, rate: f64, has_passed: bool) -> Action {
        if has_passed {
            self.confirmed = Some(rate);
        }
        let is_last = self.confirmations >= MAX_CONFIRMATIONS;
        let Some(found) = self.confirmed else {
            let next = rate / self.step_down;
            self.step_down *= self.step_down;
            if is_last || next < self.range.floor {
                return Action::Unconfirmed;
            }
            return self.confirm(next);
        };
        let gap = CONFIRMED_RATIO.max(self.precision) * SLACK;
        match self.failed_above(found) {
            Some(failed) if !is_last && failed > found * gap => {
                self.confirm((found * failed).sqrt())
            }
            _ => Action::Found,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RANGE: RateRange = RateRange { floor: 10.0, cap: 1e6 };

    /// Runs a bisection to its end; `observe` is the outcome at a rate.
    fn play(
        closed: f64,
        range: RateRange,
        mut observe: impl FnMut(Purpose, f64) -> RateOutcome,
    ) -> (Bisection, Vec<(Purpose, f64)>, Action) {
        let (mut bisection, mut next) = Bisection::begin(closed, range, 1.02);
        let mut tried = Vec::new();
        while let Action::Try(purpose, rate) = next {
            tried.push((purpose, rate));
            assert!(tried.len() < 200, "{tried:?}");
            next = bisection.observe(purpose, rate, observe(purpose, rate));
        }
        (bisection, tried, next)
    }

    fn up_to(truth: f64) -> impl FnMut(Purpose, f64) -> RateOutcome {
        move |_, rate| if rate <= truth { RateOutcome::Passed } else { RateOutcome::Failed }
    }

    #[test]
    fn the_order_is_bracket_recheck_bisect_above_confirm() {
        let (bisection, tried, end) = play(1000.0, RANGE, up_to(700.0));
        let mut purposes: Vec<Purpose> = tried.iter().map(|(purpose, _)| *purpose).collect();
        assert_eq!(tried.len(), 4 + 1 + 5 + 2, "{tried:?}");
        purposes.dedup();
        let order =
            [Purpose::Bracket, Purpose::Recheck, Purpose::Bisect, Purpose::Above, Purpose::Confirm];
        assert_eq!(purposes, order);
        let found = bisection.found().unwrap();
        assert!(end == Action::Found && found <= 700.0 && found > 700.0 / 1.02, "{found}");
        let failed = bisection.failed_above(found).unwrap();
        assert!(failed > 700.0 && failed <= found * 1.02, "{failed}");
        assert!(!bisection.is_path_dependent());
    }

    #[test]
    fn the_bracket_goes_down_when_its_first_rate_fails() {
        let (bisection, tried, _) = play(1000.0, RANGE, up_to(60.0));
        assert!((tried[0].1 - 250.0).abs() < 1e-9 && (tried[1].1 - 250.0 / 1.5).abs() < 1e-9);
        assert!((bisection.found().unwrap() / 60.0 - 1.0).abs() < 0.02);
        let (bisection, tried, end) = play(1000.0, RANGE, |_, _| RateOutcome::Failed);
        assert_eq!((end, bisection.found()), (Action::NoRate, None));
        assert!((tried.last().unwrap().1 - RANGE.floor).abs() < 1e-9, "the floor is tried");
    }

    #[test]
    fn nothing_beyond_the_cap_is_tried() {
        let range = RateRange { floor: 10.0, cap: 400.0 };
        let (bisection, tried, end) = play(1000.0, range, |_, _| RateOutcome::Passed);
        assert!(tried.iter().all(|(_, rate)| *rate <= 400.0));
        assert_eq!(end, Action::Found);
        assert!((bisection.found().unwrap() - 400.0).abs() < 1e-9);
        assert_eq!(bisection.failed_above(400.0), None);
    }

    #[test]
    fn a_recheck_that_fails_moves_the_bracket_down() {
        let mut is_spoilt = false;
        let (bisection, tried, _) = play(1000.0, RANGE, |_, rate| {
            let truth = if is_spoilt { 300.0 } else { 700.0 };
            is_spoilt |= rate > 700.0;
            if rate <= truth { RateOutcome::Passed } else { RateOutcome::Failed }
        });
        assert!(bisection.is_path_dependent());
        assert_eq!(tried.iter().filter(|(purpose, _)| *purpose == Purpose::Recheck).count(), 1);
        assert!((bisection.found().unwrap() / 300.0 - 1.0).abs() < 0.02, "{tried:?}");
    }

    #[test]
    fn a_rate_above_that_passes_moves_the_bracket_up() {
        let mut is_wrong = true;
        let (bisection, _, _) = play(1000.0, RANGE, |purpose, rate| {
            is_wrong &= purpose != Purpose::Above;
            let truth = if is_wrong { 500.0 } else { 700.0 };
            if rate <= truth { RateOutcome::Passed } else { RateOutcome::Failed }
        });
        assert!((bisection.found().unwrap() / 700.0 - 1.0).abs() < 0.03, "{:?}", bisection.found());
    }

    #[test]
    fn confirmations_double_their_step_down_and_then_narrow() {
        let (bisection, tried, _) = play(1000.0, RANGE, |purpose, rate| {
            let truth = if purpose == Purpose::Confirm { 500.0 } else { 700.0 };
            if rate <= truth { RateOutcome::Passed } else { RateOutcome::Failed }
        });
        let confirmed: Vec<f64> =
            tried.iter().filter(|(purpose, _)| *purpose == Purpose::Confirm).map(|t| t.1).collect();
        assert!((confirmed[0] / confirmed[1] - 1.02).abs() < 1e-9, "{confirmed:?}");
        assert!((confirmed[1] / confirmed[2] - 1.02 * 1.02).abs() < 1e-9);
        assert!(confirmed.len() <= MAX_CONFIRMATIONS as usize);
        let found = bisection.found().unwrap();
        assert!(found <= 500.0 && found > 500.0 / 1.03, "{confirmed:?}");
        let (_, _, end) = play(1000.0, RANGE, |purpose, rate| match rate {
            _ if purpose == Purpose::Confirm => RateOutcome::Failed,
            _ => RateOutcome::Passed,
        });
        assert_eq!(end, Action::Unconfirmed);
    }

    #[test]
    fn rates_undecided_by_short_probes_are_confirmed_later() {
        let (bisection, _, _) = play(1000.0, RANGE, |purpose, rate| match (purpose, rate) {
            (Purpose::Confirm, _) if rate <= 700.0 => RateOutcome::Passed,
            (_, rate) if rate <= 650.0 => RateOutcome::Passed,
            (_, rate) if rate <= 750.0 && purpose != Purpose::Confirm => RateOutcome::Undecided,
            _ => RateOutcome::Failed,
        });
        assert!(bisection.found().unwrap() > 700.0 / 1.03, "{:?}", bisection.found());
    }

    #[test]
    fn a_rate_at_which_the_client_was_late_did_not_fail() {
        let (bisection, tried, end) = play(1000.0, RANGE, |_, rate| match rate {
            rate if rate > 500.0 => RateOutcome::ClientLate,
            _ => RateOutcome::Passed,
        });
        assert_eq!(end, Action::Found);
        assert!((bisection.found().unwrap() / 500.0 - 1.0).abs() < 0.02, "{tried:?}");
        assert_eq!(bisection.failed_above(0.0), None);
    }

    proptest! {
        #[test]
        fn any_true_rate_is_found(truth in 12.0..9e5_f64, closed in 40.0..1e6_f64) {
            let (bisection, _, end) = play(closed, RANGE, up_to(truth));
            prop_assert_eq!(end, Action::Found);
            let found = bisection.found().unwrap();
            prop_assert!(found <= truth && found * 1.02 * SLACK >= truth, "{} {}", found, truth);
        }

        #[test]
        fn any_outcomes_lead_to_an_end(outcomes in prop::collection::vec(0..4_u8, 200)) {
            let mut outcomes = outcomes.into_iter();
            let (bisection, tried, _) = play(1000.0, RANGE, |_, _| match outcomes.next() {
                Some(0) => RateOutcome::Failed,
                Some(1) => RateOutcome::Undecided,
                Some(2) => RateOutcome::ClientLate,
                _ => RateOutcome::Passed,
            });
            prop_assert!(tried.iter().all(|(_, rate)| (RANGE.floor..=RANGE.cap).contains(rate)));
            prop_assert!(bisection.found().is_none_or(|found| found >= RANGE.floor));
        }
    }
}
