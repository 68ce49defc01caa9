//! Effects: ratio, interval and verdict of two samples of runs.
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
    /// Moderated t: variance shrunk to the variance of similar cells.
    Moderated,
    /// Student's t with the pooled variance of both samples.
    Pooled,
    /// Welch's t: the variances differ.
    Welch,
    /// Student's t on the log-ratios of blocks.
    Paired,
    /// Student's t on the means of machines, for machines of their class.
    Machines,
    /// One run each, with the noise history of this machine.
    History,
    /// Ranks: the runs of a side are all equal, five a side or more.
    Ranks,
    /// One run each and no noise history: no interval.
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
    /// None of these is established.
    Inconclusive,
}

/// Why a verdict is inconclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A side has one run, and the noise is unknown.
    OneRun,
    /// The interval contains 1 and exceeds the margin.
    Wide,
    /// The rank interval disagrees: the result depends on the noise's shape.
    ShapeDependent,
    /// The adjusted p-value of the family is too large.
    Family,
    /// All of few runs gave the same value, and no prior is known.
    NoSpread,
}

/// The second estimate, by ranks: Hodges and Lehmann's.
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
    /// 95 % interval of the ratio; `None` without a noise estimate.
    pub interval: Option<Interval>,
    /// 90 % interval of the ratio, for equivalence.
    pub interval90: Option<Interval>,
    /// How the interval was found.
    pub method: Method,
    /// Degrees of freedom behind the interval.
    pub df: Option<f64>,
    /// Two-sided p-value.
    pub p: Option<f64>,
    /// p-value adjusted for the family; equals `p` in a family of one.
    pub q: Option<f64>,
    /// The estimate by ranks, where there are enough runs.
    pub second_estimate: Option<SecondEstimate>,
    /// Minimum detectable effect at 80 % power, as a share.
    ///
    /// Allows for the error of the noise estimate ([`assured`](crate::detectable::assured)).
    pub detectable: f64,
    /// Run-to-run coefficient of variation of the test, as a share.
    pub run_cov: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// Reason of an inconclusive verdict.
    pub why: Option<Why>,
    /// Whether a finding blocks the verdict: only the ratio may be shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_blocked: bool,
}

/// Largest adjusted p-value of a significant difference.
///
/// Source: [Benjamini Hochberg 1995]; 5 % is our choice: the level that the 95 % intervals have.
const MAX_Q: f64 = 0.05;

/// Difference of a factor of two, as a share.
///
/// Our choice: a comparison that can miss a doubling is of no use to a question of a few per cent.
const DOUBLING: f64 = 1.0;

/// Position of an interval relative to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Around,
    Above,
}

impl Interval {
    fn contains(&self, ratio: f64) -> bool {
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
    /// Sets the verdict from intervals, adjusted p-value and margin (a share).
    ///
    /// The margin is taken on logarithms: a ratio is within it from 1 / (1 + margin) to 1 + margin,
    /// so that both variants can change places. A difference is significant when the 95 % interval
    /// excludes 1, the adjusted p-value is small enough, and the rank interval agrees. Variants are
    /// equivalent when the 90 % interval is within the margin. Without an interval the verdict
    /// stays as it is.
    ///
    /// The rank interval disagrees when it is on another side of 1 and does not contain the ratio
    /// either: then the noise has a shape that a mean does not describe. A rank interval that
    /// contains both 1 and the ratio is merely wider.
    ///
    /// Source: two one-sided tests [Schuirmann 1987]; the combination with ranks is our choice: two
    /// sound estimates that contradict each other leave the question open.
    pub fn decide(&mut self, margin: f64) {
        let (Some(wide), Some(narrow)) = (self.interval, self.interval90) else { return };
        let most = 1.0 + margin.max(0.0);
        let is_within = |ratio: f64| ratio > 1.0 / most && ratio < most;
        let side = wide.side();
        let ranks_agree = self.second_estimate.is_none_or(|SecondEstimate { interval, .. }| {
            interval.side() == side || side != Side::Around && interval.contains(self.ratio)
        });
        let is_significant = self.q.is_none_or(|q| q <= MAX_Q);
        let why = match side {
            Side::Around if !ranks_agree => Why::ShapeDependent,
            Side::Around => Why::Wide,
            Side::Above | Side::Below if !is_significant => Why::Family,
            Side::Above | Side::Below => Why::ShapeDependent,
        };
        let is_near = ranks_agree
            || self.second_estimate.is_none_or(|second_estimate| is_within(second_estimate.ratio));
        let is_apart = side != Side::Around && is_significant && ranks_agree;
        self.verdict = if is_apart && is_within(self.ratio) {
            Verdict::SmallButReal
        } else if is_apart {
            if side == Side::Above { Verdict::Above } else { Verdict::Below }
        } else if is_within(narrow.low) && is_within(narrow.high) && is_near {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        };
        self.why = (self.verdict == Verdict::Inconclusive).then_some(why);
    }

    /// Returns whether it has a verdict, or its design would have shown a doubling.
    ///
    /// What is established is shown, whatever else would have been.
    pub fn shows_a_doubling(&self) -> bool {
        self.verdict != Verdict::Inconclusive || self.detectable <= DOUBLING
    }

    /// Sets the adjusted p-value, and decides again.
    ///
    /// A difference that is not significant in the family becomes equivalent where the 90 %
    /// interval is within the margin, and inconclusive elsewhere.
    ///
    /// Source: [`benjamini_hochberg`](crate::family::benjamini_hochberg).
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
            is_blocked: false,
        };
        effect.decide(0.02);
        effect
    }

    fn verdict(effect: &Effect) -> (Verdict, Option<Why>) {
        (effect.verdict, effect.why)
    }

    #[test]
    fn the_intervals_and_the_margin_make_the_verdict() {
        let verdict = |ratio, wide, narrow| verdict(&effect(ratio, wide, narrow));
        let beyond = verdict(1.05, interval(1.01, 1.09), interval(1.02, 1.08));
        assert_eq!(beyond, (Verdict::Above, None));
        let beyond = verdict(0.95, interval(0.91, 0.99), interval(0.92, 0.98));
        assert_eq!(beyond, (Verdict::Below, None));
        let small = verdict(1.01, interval(1.005, 1.015), interval(1.006, 1.014));
        assert_eq!(small, (Verdict::SmallButReal, None));
        let same = verdict(1.001, interval(0.98, 1.021), interval(0.985, 1.019));
        assert_eq!(same, (Verdict::Equivalent, None));
        let wide = verdict(1.001, interval(0.97, 1.03), interval(0.975, 1.025));
        assert_eq!(wide, (Verdict::Inconclusive, Some(Why::Wide)));
    }

    #[test]
    fn verdict_or_a_small_detectable_difference_shows_a_doubling() {
        let wide = || effect(1.2, interval(0.4, 3.6), interval(0.5, 2.9));
        let with = |detectable, effect| Effect { detectable, ..effect }.shows_a_doubling();
        assert!(with(0.999, wide()) && with(1.0, wide()));
        assert!(!with(1.001, wide()) && !with(f64::INFINITY, wide()) && !with(f64::NAN, wide()));
        let found = effect(9.0, interval(1.1, 72.0), interval(1.6, 51.0));
        assert!(found.verdict == Verdict::Above && with(4.96, found));
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
    fn disagreeing_ranks_make_the_verdict_inconclusive() {
        let ranks = |low, high| Some(SecondEstimate { ratio: 1.0, interval: interval(low, high) });
        let mut found = effect(1.05, interval(1.01, 1.09), interval(1.02, 1.08));
        found.second_estimate = ranks(0.99, 1.04);
        found.decide(0.02);
        assert_eq!(verdict(&found), (Verdict::Inconclusive, Some(Why::ShapeDependent)));
        found.second_estimate = ranks(0.99, 1.10);
        found.decide(0.02);
        assert_eq!(verdict(&found), (Verdict::Above, None), "merely wider");
        found.second_estimate = ranks(1.001, 1.10);
        found.decide(0.02);
        assert_eq!(verdict(&found), (Verdict::Above, None));
        let mut found = effect(1.05, interval(0.99, 1.11), interval(0.995, 1.10));
        found.second_estimate = ranks(1.01, 1.10);
        found.decide(0.02);
        assert_eq!(verdict(&found), (Verdict::Inconclusive, Some(Why::ShapeDependent)));
        let mut found = effect(1.001, interval(0.985, 1.017), interval(0.987, 1.015));
        found.second_estimate =
            Some(SecondEstimate { ratio: 1.03, interval: interval(1.01, 1.05) });
        found.decide(0.02);
        assert_eq!(verdict(&found), (Verdict::Inconclusive, Some(Why::ShapeDependent)));
        found.second_estimate =
            Some(SecondEstimate { ratio: 1.01, interval: interval(1.001, 1.02) });
        found.decide(0.02);
        assert_eq!(verdict(&found), (Verdict::Equivalent, None));
    }

    #[test]
    fn a_difference_must_hold_in_its_family() {
        let mut found = effect(1.05, interval(1.01, 1.09), interval(1.02, 1.08));
        found.adjust(0.051, 0.02);
        assert_eq!(verdict(&found), (Verdict::Inconclusive, Some(Why::Family)));
        assert_eq!((found.p, found.q), (Some(0.01), Some(0.051)));
        found.adjust(0.05, 0.02);
        assert_eq!(verdict(&found), (Verdict::Above, None));
        let mut found = effect(1.01, interval(1.005, 1.015), interval(1.006, 1.014));
        found.adjust(0.2, 0.02);
        assert_eq!(verdict(&found), (Verdict::Equivalent, None));
    }

    #[test]
    fn without_an_interval_nothing_is_decided() {
        let mut found = effect(1.5, interval(1.4, 1.6), interval(1.4, 1.6));
        (found.interval, found.verdict) = (None, Verdict::Inconclusive);
        found.why = Some(Why::OneRun);
        found.adjust(0.001, 0.02);
        assert_eq!(verdict(&found), (Verdict::Inconclusive, Some(Why::OneRun)));
    }
}
