//! What two samples of runs tell of the difference between them, and the verdict.
//!
//! All values are positive and are compared as logarithms: an effect is a ratio.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::prior::Prior;

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
}

/// The estimate that stands beside the primary one: Hodges and Lehmann's, by ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Beside {
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
    pub beside: Option<Beside>,
    /// Smallest difference, as a share, that this design would have seen four times in five.
    pub detectable: f64,
    /// Run-to-run coefficient of variation that was reckoned with, as a share.
    pub run_cov: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is inconclusive, when it is.
    pub why: Option<Why>,
}

/// How two samples are to be compared; declared before the samples are seen.
#[derive(Debug, Clone, Copy)]
pub struct Design<'a> {
    /// Smallest difference that matters, as a share.
    pub margin: f64,
    /// What is known of the noise from elsewhere.
    pub prior: Option<&'a Prior>,
    /// Whether the n-th values of both samples are of one block and are compared as pairs.
    pub is_paired: bool,
    /// Run-to-run coefficient of variation to assume, as a share, where nothing is known: for the
    /// detectable difference alone, never for an interval.
    pub assumed_cov: f64,
}

/// Compares two samples; `None` when one is empty or has a value that is not positive.
///
/// Source: the project's reference, analysis, sections 0, 1.2, 1.3 and 1.5.
#[must_use]
pub fn judge(base: &[f64], variant: &[f64], design: &Design<'_>) -> Option<Effect> {
    let logs = |values: &[f64]| -> Option<Vec<f64>> {
        values.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect()
    };
    let (base, variant) = (logs(base)?, logs(variant)?);
    let (n_base, n_variant) = (base.len() as f64, variant.len() as f64);
    if base.is_empty() || variant.is_empty() {
        return None;
    }
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let squares = |logs: &[f64]| {
        let mean = mean(logs);
        logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>()
    };
    let shift = mean(&variant) - mean(&base);
    let df = n_base + n_variant - 2.0;
    let mut effect = Effect {
        ratio: shift.exp(),
        interval: None,
        interval90: None,
        method: Method::None,
        df: None,
        p: None,
        q: None,
        beside: None,
        detectable: 4.0 * design.assumed_cov,
        run_cov: design.assumed_cov,
        verdict: Verdict::Inconclusive,
        why: Some(Why::OneRun),
    };
    if base.len() < 2 || variant.len() < 2 {
        return Some(effect);
    }
    let variance = (squares(&base) + squares(&variant)) / df;
    let error = (variance * (1.0 / n_base + 1.0 / n_variant)).sqrt();
    let student = StudentsT::new(0.0, 1.0, df).ok()?;
    let interval = |level: f64| {
        let half = student.inverse_cdf(0.5 + level / 2.0) * error;
        Interval { low: (shift - half).exp(), high: (shift + half).exp() }
    };
    effect.interval = Some(interval(0.95));
    effect.interval90 = Some(interval(0.90));
    effect.method = Method::Pooled;
    effect.df = Some(df);
    let p = if error > 0.0 { 2.0 * student.cdf(-(shift / error).abs()) } else { 1.0 };
    effect.p = Some(p);
    effect.q = Some(p);
    effect.run_cov = variance.sqrt();
    effect.decide(design.margin);
    Some(effect)
}

impl Effect {
    /// Sets the verdict by the intervals and the margin.
    pub fn decide(&mut self, margin: f64) {
        let (Some(wide), Some(narrow)) = (self.interval, self.interval90) else { return };
        let is_apart = wide.low > 1.0 || wide.high < 1.0;
        let beyond = (self.ratio - 1.0).abs() >= margin;
        let within = narrow.low > 1.0 / (1.0 + margin) && narrow.high < 1.0 + margin;
        self.verdict = match (is_apart, beyond) {
            (true, true) if self.ratio > 1.0 => Verdict::Above,
            (true, true) => Verdict::Below,
            (true, false) => Verdict::SmallButReal,
            (false, _) if within => Verdict::Equivalent,
            (false, _) => Verdict::Inconclusive,
        };
        self.why = (self.verdict == Verdict::Inconclusive).then_some(Why::Wide);
    }
}
