//! The rule by which a published finding reproduces.

use model::Expected;
use serde::Serialize;
use stats::{Effect, Interval, Verdict};

/// Outcome of a published finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reproduction {
    /// The same direction, and the same size where one was published.
    Reproduces,
    /// The difference has the published direction and another size.
    SameDirection,
    /// The difference has the other direction.
    Opposite,
    /// A difference was published, and here there is none that matters.
    NoDifference,
    /// No difference was published, and here there is one.
    Differs,
    /// The runs do not decide it.
    Undecided,
    /// It was not measured.
    NotMeasured,
}

impl Reproduction {
    /// Every outcome, from agreement to none.
    pub const ALL: [Self; 7] = [
        Self::Reproduces,
        Self::SameDirection,
        Self::Opposite,
        Self::NoDifference,
        Self::Differs,
        Self::Undecided,
        Self::NotMeasured,
    ];

    /// Returns whether the outcome contradicts the publication.
    pub const fn disagrees(self) -> bool {
        match self {
            Self::SameDirection | Self::Opposite | Self::NoDifference | Self::Differs => true,
            Self::Reproduces | Self::Undecided | Self::NotMeasured => false,
        }
    }
}

/// Direction of a published finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
    Neither,
}

/// Returns whether the interval, widened by the margin, contains a ratio.
///
/// The margin is taken on logarithms, as everywhere: what differs by less does not matter.
pub fn holds(interval: &Interval, ratio: f64, margin: f64) -> bool {
    let most = 1.0 + margin.max(0.0);
    interval.low / most <= ratio && ratio <= interval.high * most
}

/// Compares a published finding with an effect found here.
///
/// A published ratio within the margin counts as no difference. A published difference reproduces
/// where one is established here on the same side of 1 (the 95 % interval leaves out 1, the family
/// allows it) and the interval, widened by the margin, holds the published ratio if there is one;
/// else it has the same direction and another size, or the opposite direction. It is absent where
/// any difference here is within the margin (the 90 % interval lies within). Where no difference
/// was published, being within the margin reproduces it. All else is undecided. Swapping the two
/// variants, in the publication and here, leaves the outcome as it is.
///
/// Source: a difference in the same direction, and the original estimate within the new study's 95
/// % interval [OSC 2015]; no difference needs a test of its own [Lakens 2017]. The margin is our
/// choice, as in every comparison.
pub fn reproduction(expected: Expected, effect: &Effect, margin: f64) -> Reproduction {
    let Some((wide, narrow)) = effect.interval.zip(effect.interval90) else {
        return Reproduction::Undecided;
    };
    let (published, size) = way(expected, margin);
    let is_none_that_matters = narrow.low > below(margin) && narrow.high < above(margin);
    let found = match effect.verdict {
        Verdict::Above => Way::Up,
        Verdict::Below => Way::Down,
        Verdict::SmallButReal if effect.ratio > 1.0 => Way::Up,
        Verdict::SmallButReal => Way::Down,
        Verdict::Equivalent => Way::Neither,
        Verdict::Inconclusive => return Reproduction::Undecided,
    };
    let is_small = effect.verdict == Verdict::SmallButReal;
    let is_size = size.is_none_or(|ratio| holds(&wide, ratio, margin));
    match (published, found) {
        (Way::Neither, Way::Neither) => Reproduction::Reproduces,
        (Way::Neither, _) if is_none_that_matters => Reproduction::Reproduces,
        // There is a difference; whether it matters is open.
        (Way::Neither, _) if is_small => Reproduction::Undecided,
        (Way::Neither, _) => Reproduction::Differs,
        (_, Way::Neither) => Reproduction::NoDifference,
        (_, _) if published == found && size.is_some() && is_size => Reproduction::Reproduces,
        (_, _) if is_none_that_matters => Reproduction::NoDifference,
        (_, _) if published != found => Reproduction::Opposite,
        (_, _) if is_size => Reproduction::Reproduces,
        (_, _) => Reproduction::SameDirection,
    }
}

/// Returns the direction of a publication, with its size where it has one.
fn way(expected: Expected, margin: f64) -> (Way, Option<f64>) {
    match expected {
        Expected::Higher => (Way::Up, None),
        Expected::Lower => (Way::Down, None),
        Expected::Same => (Way::Neither, None),
        Expected::Ratio(ratio) if ratio >= above(margin) => (Way::Up, Some(ratio)),
        Expected::Ratio(ratio) if ratio <= below(margin) => (Way::Down, Some(ratio)),
        Expected::Ratio(_) => (Way::Neither, None),
    }
}

/// Returns the largest ratio that does not matter.
fn above(margin: f64) -> f64 {
    1.0 + margin.max(0.0)
}

/// Returns the smallest ratio that does not matter.
fn below(margin: f64) -> f64 {
    1.0 / above(margin)
}
