//! The rule by which a published finding reproduces.

use model::Expected;
use serde::{Deserialize, Serialize};
use stats::detectable::log_variance_of;
use stats::planning;
use stats::{CellVariance, Effect, Interval, Verdict, Why};

/// Outcome of a published finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reproduction {
    /// The same direction, and the same size where one was published, known well enough.
    Reproduces,
    /// The difference has the published direction and another size.
    SameDirection,
    /// The difference has the published direction; the runs do not decide its size.
    SizeUndecided,
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

model::names!(Reproduction, "an outcome":
    Reproduces "reproduces", SameDirection "same direction, other size",
    SizeUndecided "same direction, size undecided", Opposite "opposite",
    NoDifference "no difference", Differs "differs here", Undecided "undecided",
    NotMeasured "not measured");

impl Reproduction {
    /// Returns whether the outcome contradicts the publication.
    pub const fn disagrees(self) -> bool {
        match self {
            Self::SameDirection | Self::Opposite | Self::NoDifference | Self::Differs => true,
            Self::Reproduces | Self::SizeUndecided | Self::Undecided | Self::NotMeasured => false,
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
fn holds(interval: &Interval, ratio: f64, margin: f64) -> bool {
    let most = 1.0 + margin.max(0.0);
    interval.low / most <= ratio && ratio <= interval.high * most
}

/// Compares a published finding with an effect found here.
///
/// A published ratio within the margin counts as no difference. A published difference reproduces
/// where one is established here on the same side of 1 (the 95 % interval leaves out 1, the family
/// allows it) and, if a ratio was published, both are compatible (the interval, widened by the
/// margin, holds it) and this one is precise: its 90 % interval lies within the tolerance.
/// Incompatible ones have the same direction and another size, or the opposite direction; of a
/// compatible one that is not precise only the direction is decided. A difference is absent where
/// any here is within the margin (the 90 % interval lies within). Where none was published, being
/// within the margin reproduces it. Where a value was published as not higher, a rise beyond
/// the margin differs, and a 90 % interval whose upper limit is within the margin reproduces it;
/// not lower, the other way round. All else is undecided. Swapping the two variants, in the
/// publication and here, leaves the outcome as it is.
///
/// Source: a difference in the same direction, and the original estimate within the new study's 95
/// % interval [OSC 2015]; that both are alike, as that there is no difference, needs two one-sided
/// tests of its own [Schuirmann 1987], [Lakens 2017], and that there is no rise, one of them. The
/// margin is our choice, as in every comparison, and so is the tolerance: `tolerance`.
pub fn reproduction(expected: Expected, effect: &Effect, margin: f64) -> Reproduction {
    let Some((wide, narrow)) = effect.interval.zip(effect.interval90) else {
        return Reproduction::Undecided;
    };
    if let Some(outcome) = regression(expected, effect, narrow, margin) {
        return outcome;
    }
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
    let is_compatible = size.is_none_or(|ratio| holds(&wide, ratio, margin));
    let is_precise = size.is_none_or(|ratio| {
        let [low, high] = [narrow.low, narrow.high].map(|limit| (limit / ratio).ln());
        low > -tolerance(ratio, margin) && high < tolerance(ratio, margin)
    });
    let is_size = is_compatible && is_precise;
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
        (_, _) if is_compatible => Reproduction::SizeUndecided,
        (_, _) => Reproduction::SameDirection,
    }
}

/// Compares a published absence of a regression; `None` where another relation was published.
fn regression(
    expected: Expected,
    effect: &Effect,
    narrow: Interval,
    margin: f64,
) -> Option<Reproduction> {
    let (verdict, most) = match expected {
        Expected::NotHigher => (Verdict::Above, narrow.high),
        Expected::NotLower => (Verdict::Below, narrow.low.recip()),
        Expected::Ratio(_) | Expected::Higher | Expected::Lower | Expected::Same => return None,
    };
    Some(if effect.verdict == verdict {
        Reproduction::Differs
    } else if most < above(margin) && effect.why != Some(Why::ShapeDependent) {
        Reproduction::Reproduces
    } else {
        Reproduction::Undecided
    })
}

/// Returns how far a size may be from a published ratio, as a difference of logarithms.
///
/// Our choice: half of the published difference, so that neither none nor twice as much is left;
/// at least the margin.
fn tolerance(ratio: f64, margin: f64) -> f64 {
    above(margin).ln().max(ratio.ln().abs() / 2.0)
}

/// Returns the runs of each variant that would decide whether a size is the published one.
///
/// `None` where only a direction was published, without an interval, and where `runs` are enough.
///
/// Source: [`planning::runs_needed`]; where both sizes are equal, two one-sided tests pass four
/// times in five when 1.96 standard errors are two thirds of the tolerance: 1.96 / (1.645 + 1.282),
/// from the quantiles of the normal distribution at 95 and 90 % [Schuirmann 1987].
pub(super) fn runs_needed(
    expected: Expected,
    effect: &Effect,
    margin: f64,
    runs: u32,
) -> Option<u32> {
    const POWER: f64 = 2.0 / 3.0;
    let ratio = match expected {
        Expected::Higher | Expected::Lower => return None,
        Expected::Same | Expected::NotHigher | Expected::NotLower => 1.0,
        Expected::Ratio(ratio) => ratio,
    };
    let noise = CellVariance { variance: log_variance_of(effect.run_cov), df: effect.df? };
    let needed = planning::runs_needed(noise, runs, POWER * tolerance(ratio, margin));
    (needed > runs).then_some(needed)
}

/// Returns the direction of a publication, with its size where it has one.
fn way(expected: Expected, margin: f64) -> (Way, Option<f64>) {
    match expected {
        Expected::Higher => (Way::Up, None),
        Expected::Lower => (Way::Down, None),
        Expected::Same | Expected::NotHigher | Expected::NotLower => (Way::Neither, None),
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
