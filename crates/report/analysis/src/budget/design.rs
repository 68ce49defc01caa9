//! Repetitions for a budget or a half-width, and the precision to expect.

use model::Nanos;
use stats::distribution::student;

use super::pilot::StepNoise;
use crate::compare::PAIRED_FROM;

/// Fewest repetitions of a proposal.
///
/// Our choice: two leave two degrees of freedom, and half-widths of over four standard errors.
const REPETITIONS_MIN: u32 = 3;
/// Most repetitions of a proposal.
const REPETITIONS_MAX: u32 = 1000;
/// Common numbers of repetitions, shown for comparison.
const COMMON: [u32; 6] = [2, 3, 5, 10, 20, 50];

/// Noise and cost of an experiment's repetitions.
#[derive(Debug, Clone, Copy)]
pub struct Budget<'a> {
    /// The noise of each step, level and variant.
    pub noise: &'a [StepNoise],
    /// Runs of one repetition: variants times levels.
    pub runs: u32,
    /// Machine time of one repetition outside its timed steps' measured spans.
    ///
    /// Loading, settling, warm-up, steps that end by operations, starting and stopping.
    pub overhead: Nanos,
    /// Measured spans of the timed steps of one run, in total.
    pub measured: Nanos,
}

/// Expected precision of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The comparison, as its index in [`Budget::noise`].
    pub noise: usize,
    /// Half-width of the 95 % interval of the ratio, as a share.
    pub half_width: f64,
    /// Smallest difference detectable at 80 % power, as a share.
    pub detectable: f64,
}

/// A number of repetitions with its cost and precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Repetitions.
    pub repetitions: u32,
    /// Machine time of all of them.
    pub cost: Nanos,
    /// Precision of each comparison, in the order of [`Budget::noise`].
    pub expected: Vec<Expected>,
}

impl Design {
    /// Returns the comparison with the widest interval.
    pub fn worst(&self) -> Option<&Expected> {
        self.expected.iter().max_by(|a, b| a.half_width.total_cmp(&b.half_width))
    }

    fn half_width(&self) -> f64 {
        self.worst().map_or(f64::INFINITY, |worst| worst.half_width)
    }
}

/// The best design of a budget, with cheaper ones and its sensitivity.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The design with the narrowest interval in the worst step.
    pub best: Design,
    /// The best and common designs within the budget, by repetitions.
    pub alternatives: Vec<Design>,
    /// The worst step's half-width with half the run-to-run deviation.
    pub if_half: f64,
    /// The worst step's half-width with twice the run-to-run deviation.
    pub if_double: f64,
}

/// A budget below the cost of the fewest repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSmall {
    /// Cost of the fewest repetitions.
    pub least: Nanos,
}

impl Budget<'_> {
    /// Returns the most precise design for a machine time.
    ///
    /// # Errors
    /// When it does not pay for three repetitions.
    ///
    /// Source: half-widths of Student's t [Student 1908]; ties go to more repetitions.
    pub fn propose(&self, time: Nanos) -> Result<Proposal, TooSmall> {
        let is_paid = |design: &Design| design.cost <= time;
        let all = (REPETITIONS_MIN..=REPETITIONS_MAX).map(|n| self.design(n)).take_while(is_paid);
        let better = |best: Design, one: Design| {
            if one.half_width() <= best.half_width() { one } else { best }
        };
        let least = self.design(REPETITIONS_MIN).cost;
        let best = all.reduce(better).ok_or(TooSmall { least })?;
        let common = COMMON.iter().filter(|n| **n != best.repetitions);
        let mut alternatives: Vec<Design> =
            common.map(|n| self.design(*n)).filter(is_paid).collect();
        alternatives.push(best.clone());
        alternatives.sort_by_key(|design| design.repetitions);
        let with_between = |factor| self.with_between(best.repetitions, factor);
        let (if_half, if_double) = (with_between(0.5), with_between(2.0));
        Ok(Proposal { best, alternatives, if_half, if_double })
    }

    /// Returns the cheapest design with a half-width in every step.
    ///
    /// # Errors
    /// The design of a thousand repetitions, when it does not reach it.
    pub fn reach(&self, half_width: f64) -> Result<Design, Design> {
        let mut all = (REPETITIONS_MIN..=REPETITIONS_MAX).map(|n| self.design(n));
        let found = all.find(|design| design.half_width() <= half_width);
        found.ok_or_else(|| self.design(REPETITIONS_MAX))
    }

    fn design(&self, repetitions: u32) -> Design {
        let expect = |(noise, one): (usize, &StepNoise)| {
            let (freedom, inflation) = freedom(one, repetitions);
            let error = (2.0 * one.variance() * inflation / f64::from(repetitions)).sqrt();
            Expected {
                noise,
                half_width: half_width(one, repetitions),
                detectable: stats::detectable::share(error, freedom),
            }
        };
        let each = self.measured.0.saturating_mul(self.runs.into()).saturating_add(self.overhead.0);
        Design {
            repetitions,
            cost: Nanos(each.saturating_mul(repetitions.into())),
            expected: self.noise.iter().enumerate().map(expect).collect(),
        }
    }

    /// Returns the worst half-width with a multiple of the run-to-run deviation.
    fn with_between(&self, repetitions: u32, factor: f64) -> f64 {
        let scaled =
            |one: &StepNoise| StepNoise { between: one.between * factor.powi(2), ..one.clone() };
        let noise: Vec<StepNoise> = self.noise.iter().map(scaled).collect();
        Budget { noise: &noise, ..*self }.design(repetitions).half_width()
    }
}

/// Returns the half-width of the 95 % interval after so many repetitions, a share.
pub(super) fn half_width(one: &StepNoise, repetitions: u32) -> f64 {
    let (freedom, inflation) = freedom(one, repetitions);
    let error = (2.0 * one.variance() * inflation / f64::from(repetitions)).sqrt();
    (student::half_width(0.95, freedom) * error).exp_m1()
}

/// Returns the degrees of freedom of so many repetitions, and the factor of the squared error.
///
/// As [`crate::compare()`]: below five moderated by the prior, from five on paired.
fn freedom(noise: &StepNoise, repetitions: u32) -> (f64, f64) {
    let runs = f64::from(repetitions);
    if repetitions < PAIRED_FROM {
        return (2.0 * runs - 2.0 + noise.prior_df, 1.0);
    }
    (runs - 1.0, stats::paired::inflation(runs))
}
