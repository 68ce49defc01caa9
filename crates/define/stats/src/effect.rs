//! What is told of the difference between two samples of runs: an interval and a verdict.
//!
//! All values are positive and are compared as logarithms: an effect is a ratio.

use serde::Serialize;

/// An interval of ratios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
}

/// How an interval was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Moderated t: the cells' own variance and that of others like it.
    Moderated,
    /// Student's t with the pooled variance of both samples.
    Pooled,
    /// Welch's t: the variances differ.
    Welch,
    /// Student's t on the log-ratios of blocks.
    Paired,
    /// One run each, and the noise of earlier runs on this machine.
    History,
    /// One run each and no history: nothing can be told.
    None,
}

/// What is concluded of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The ratio is above 1, beyond the margin.
    Above,
    /// The ratio is below 1, beyond the margin.
    Below,
    /// There is a difference, and it is within the margin.
    SmallButReal,
    /// Any difference is within the margin.
    Equivalent,
    /// None of these could be shown.
    Inconclusive,
}

/// Why a verdict is inconclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A side has one run only, and nothing is known of the noise.
    OneRun,
    /// The interval holds 1 and goes beyond the margin.
    Wide,
    /// The rank interval says otherwise: it depends on the shape of the noise.
    ShapeDependent,
    /// Among so many comparisons one such difference is expected by chance.
    Family,
    /// All runs gave the same value, and nothing is known of the noise from elsewhere.
    NoSpread,
}

/// The estimate that stands beside the primary one: Hodges and Lehmann's, by ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SecondEstimate {
    /// Ratio.
    pub ratio: f64,
    /// Its interval, at least 95 %.
    pub interval: Interval,
}

/// A metric of one variant relative to the base.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Effect {
    /// Ratio of the geometric means, variant to base.
    pub ratio: f64,
    /// 95 % interval of the ratio; `None` when one run each leaves none.
    pub interval: Option<Interval>,
    /// 90 % interval of the ratio, for equivalence.
    pub interval90: Option<Interval>,
    /// How the interval was found.
    pub method: Method,
    /// Degrees of freedom behind the interval.
    pub df: Option<f64>,
    /// Chance of a difference like this without any, two-sided.
    pub p: Option<f64>,
    /// The same adjusted for the family of comparisons; equals `p` for a family of one.
    pub q: Option<f64>,
    /// The estimate by ranks, where there are enough runs.
    pub second_estimate: Option<SecondEstimate>,
    /// Smallest difference, as a share, that this design would have seen four times in five, with
    /// what its estimate of the noise may be wrong ([`assured`](crate::detectable::assured)).
    pub detectable: f64,
    /// Run-to-run coefficient of variation that was reckoned with, as a share.
    pub run_cov: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is inconclusive, when it is.
    pub why: Option<Why>,
}

/// Largest adjusted chance at which a difference is told.
///
/// Source: Y. Benjamini and Y. Hochberg, 1995, "Controlling the False Discovery Rate", Journal of
/// the Royal Statistical Society B 57(1); the level: the project's reference, analysis, 1.6.
const MOST_CHANCE: f64 = 0.05;

/// What one interval tells of 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Around,
    Above,
}

impl Interval {
    fn holds(&self, ratio: f64) -> bool {
        self.low <= ratio && ratio <= self.high
    }

    fn side(&self) -> Side {
        if self.low > 1.0 {
            Side::Above
        } else if self.high < 1.0 {
            Side::Below
        } else {
            Side::Around
        }
    }
}

impl Effect {
    /// Sets the verdict by the intervals, the adjusted chance and the margin, a share.
    ///
    /// The margin is taken on logarithms: a ratio is within it from 1 / (1 + margin) to 1 + margin,
    /// so that both variants can change places. A difference is told when the 95 % interval leaves
    /// out 1, the family allows it, and the interval by ranks does not say otherwise. Equivalence
    /// is told when the 90 % interval is within the margin. What has no interval stays as it is.
    ///
    /// Ranks say otherwise when their interval is on another side of 1 and does not hold the ratio
    /// either: then both cannot be right, and the noise has a shape that a mean does not describe.
    /// An interval by ranks that holds both 1 and the ratio is merely wider, as it is by nature.
    ///
    /// Source: D. J. Schuirmann, 1987, "A Comparison of the Two One-Sided Tests Procedure and the
    /// Power Approach for Assessing the Equivalence of Average Bioavailability", Journal of
    /// Pharmacokinetics and Biopharmaceutics 15(6); the rule: the project's reference, analysis,
    /// sections 0, 1.2 and 1.6.
    pub fn decide(&mut self, margin: f64) {
        let (Some(wide), Some(narrow)) = (self.interval, self.interval90) else { return };
        let most = 1.0 + margin.max(0.0);
        let is_within = |ratio: f64| ratio > 1.0 / most && ratio < most;
        let side = wide.side();
        let is_alike = self.second_estimate.is_none_or(|SecondEstimate { interval, .. }| {
            interval.side() == side || side != Side::Around && interval.holds(self.ratio)
        });
        let is_told = self.q.is_none_or(|q| q <= MOST_CHANCE);
        let doubt = match side {
            Side::Around if !is_alike => Why::ShapeDependent,
            Side::Around => Why::Wide,
            Side::Above | Side::Below if !is_told => Why::Family,
            Side::Above | Side::Below => Why::ShapeDependent,
        };
        let is_near = is_alike
            || self.second_estimate.is_none_or(|second_estimate| is_within(second_estimate.ratio));
        let is_apart = side != Side::Around && is_told && is_alike;
        self.verdict = if is_apart && is_within(self.ratio) {
            Verdict::SmallButReal
        } else if is_apart {
            if side == Side::Above { Verdict::Above } else { Verdict::Below }
        } else if is_within(narrow.low) && is_within(narrow.high) && is_near {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        };
        self.why = (self.verdict == Verdict::Inconclusive).then_some(doubt);
    }

    /// Sets the chance adjusted for the family of comparisons, and decides again.
    ///
    /// A difference that the family does not allow becomes equivalent where any difference is
    /// within the margin all the same, and inconclusive elsewhere.
    ///
    /// Source: [`benjamini_hochberg`](crate::family::benjamini_hochberg); the project's reference,
    /// analysis, section 1.6.
    pub fn adjust(&mut self, q: f64, margin: f64) {
        self.q = Some(q);
        self.decide(margin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high }
    }

    /// An effect with its 95 % and its 90 % interval, decided at a margin of 2 %.
    fn effect(ratio: f64, wide: Interval, narrow: Interval) -> Effect {
        let mut effect = Effect {
            ratio,
            interval: Some(wide),
            interval90: Some(narrow),
            method: Method::Pooled,
            df: Some(8.0),
            p: Some(0.01),
            q: Some(0.01),
            second_estimate: None,
            detectable: 0.03,
            run_cov: 0.01,
            verdict: Verdict::Inconclusive,
            why: None,
        };
        effect.decide(0.02);
        effect
    }

    fn told(effect: &Effect) -> (Verdict, Option<Why>) {
        (effect.verdict, effect.why)
    }

    #[test]
    fn the_intervals_and_the_margin_make_the_verdict() {
        let told = |ratio, wide, narrow| told(&effect(ratio, wide, narrow));
        let beyond = told(1.05, interval(1.01, 1.09), interval(1.02, 1.08));
        assert_eq!(beyond, (Verdict::Above, None));
        let beyond = told(0.95, interval(0.91, 0.99), interval(0.92, 0.98));
        assert_eq!(beyond, (Verdict::Below, None));
        let small = told(1.01, interval(1.005, 1.015), interval(1.006, 1.014));
        assert_eq!(small, (Verdict::SmallButReal, None));
        let same = told(1.001, interval(0.98, 1.021), interval(0.985, 1.019));
        assert_eq!(same, (Verdict::Equivalent, None));
        let wide = told(1.001, interval(0.97, 1.03), interval(0.975, 1.025));
        assert_eq!(wide, (Verdict::Inconclusive, Some(Why::Wide)));
    }

    #[test]
    fn the_margin_is_one_of_logarithms() {
        // 1 / 1.02 = 0.98039: 0.9805 is within the margin and 0.9803 is beyond it.
        let near = |ratio: f64| interval(ratio - 1e-5, ratio + 1e-5);
        let of = |ratio: f64| effect(ratio, near(ratio), near(ratio)).verdict;
        assert_eq!((of(0.9803), of(0.9805)), (Verdict::Below, Verdict::SmallButReal));
        assert_eq!((of(1.0201), of(1.0199)), (Verdict::Above, Verdict::SmallButReal));
    }

    #[test]
    fn ranks_that_say_otherwise_leave_it_open() {
        let ranks = |low, high| Some(SecondEstimate { ratio: 1.0, interval: interval(low, high) });
        let mut found = effect(1.05, interval(1.01, 1.09), interval(1.02, 1.08));
        found.second_estimate = ranks(0.99, 1.04);
        found.decide(0.02);
        assert_eq!(told(&found), (Verdict::Inconclusive, Some(Why::ShapeDependent)));
        found.second_estimate = ranks(0.99, 1.10);
        found.decide(0.02);
        assert_eq!(told(&found), (Verdict::Above, None), "merely wider");
        found.second_estimate = ranks(1.001, 1.10);
        found.decide(0.02);
        assert_eq!(told(&found), (Verdict::Above, None));
        let mut found = effect(1.05, interval(0.99, 1.11), interval(0.995, 1.10));
        found.second_estimate = ranks(1.01, 1.10);
        found.decide(0.02);
        assert_eq!(told(&found), (Verdict::Inconclusive, Some(Why::ShapeDependent)));
        let mut found = effect(1.001, interval(0.985, 1.017), interval(0.987, 1.015));
        found.second_estimate =
            Some(SecondEstimate { ratio: 1.03, interval: interval(1.01, 1.05) });
        found.decide(0.02);
        assert_eq!(told(&found), (Verdict::Inconclusive, Some(Why::ShapeDependent)));
        found.second_estimate =
            Some(SecondEstimate { ratio: 1.01, interval: interval(1.001, 1.02) });
        found.decide(0.02);
        assert_eq!(told(&found), (Verdict::Equivalent, None));
    }

    #[test]
    fn a_difference_must_hold_in_its_family() {
        let mut found = effect(1.05, interval(1.01, 1.09), interval(1.02, 1.08));
        found.adjust(0.051, 0.02);
        assert_eq!(told(&found), (Verdict::Inconclusive, Some(Why::Family)));
        assert_eq!((found.p, found.q), (Some(0.01), Some(0.051)));
        found.adjust(0.05, 0.02);
        assert_eq!(told(&found), (Verdict::Above, None));
        let mut found = effect(1.01, interval(1.005, 1.015), interval(1.006, 1.014));
        found.adjust(0.2, 0.02);
        assert_eq!(told(&found), (Verdict::Equivalent, None));
    }

    #[test]
    fn without_an_interval_nothing_is_decided() {
        let mut found = effect(1.5, interval(1.4, 1.6), interval(1.4, 1.6));
        (found.interval, found.verdict) = (None, Verdict::Inconclusive);
        found.why = Some(Why::OneRun);
        found.adjust(0.001, 0.02);
        assert_eq!(told(&found), (Verdict::Inconclusive, Some(Why::OneRun)));
    }
}
