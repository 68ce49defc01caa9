//! An experiment and its rerun elsewhere: which findings are reproduced.

use model::{Expected, StepClients};
use serde::Serialize;
use stats::distribution::student;
use stats::{Effect, Verdict};

use crate::comparison::{CellComparison, Comparison, StepComparison};
use crate::published::{HeldFinding, Reproduction, reproduction};

/// Outcome of one finding in a rerun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RerunOutcome {
    /// The rerun establishes the same.
    Reproduced,
    /// The rerun establishes something else.
    NotReproduced,
    /// One of the two establishes nothing.
    Undecided,
    /// The rerun did not measure it.
    NotMeasured,
}

model::names!(RerunOutcome, "an outcome":
    Reproduced "reproduced", NotReproduced "not reproduced", Undecided "undecided", NotMeasured "not measured");

/// One finding of an experiment, there and here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RerunFinding {
    /// The published claim that it is about, if any.
    pub claim: Option<String>,
    /// The step's name.
    pub step: String,
    /// Level of the clients factor, and the step's clients.
    #[serde(flatten)]
    pub clients: StepClients,
    /// The variant.
    pub variant: String,
    /// Name of the metric.
    pub metric: String,
    /// The original result: ratio to the base, with its interval.
    pub there: Effect,
    /// The rerun's.
    pub here: Option<Effect>,
    /// Whether both agree.
    pub outcome: RerunOutcome,
    /// Whether the two ratios differ by no more than their noise; `None` where it is not known.
    pub is_size_alike: Option<bool>,
}

/// Compares the findings of an experiment with the findings of its rerun.
///
/// They are the published findings where the experiment has some, else each variant against the
/// base in each step that the question is about.
pub fn rerun_findings(there: &Comparison, here: &Comparison, margin: f64) -> Vec<RerunFinding> {
    let published: Vec<_> = there.published.iter().flat_map(|held| &held.findings).collect();
    if published.is_empty() {
        let steps = there.steps.iter().filter(|step| !step.is_preparatory);
        return steps.flat_map(|step| of_step(step, here, margin)).collect();
    }
    let again = here.published.iter().flat_map(|held| &held.findings);
    let both = published.into_iter().zip(again);
    both.filter_map(|(one, two)| of_published(one, two, margin)).collect()
}

/// Returns the findings of one step: each variant against the base.
fn of_step(step: &StepComparison, here: &Comparison, margin: f64) -> Vec<RerunFinding> {
    let Some(metric) = step.primary else { return Vec::new() };
    let again = here.steps.iter().find(|it| (it.index, it.clients) == (step.index, step.clients));
    let effect = |cell: &CellComparison| cell.metric(metric)?.versus_base;
    let of_cell = |cell: &CellComparison| {
        let there = effect(cell)?;
        let same = again.and_then(|step| step.cells.iter().find(|it| it.variant == cell.variant));
        let here = same.and_then(effect);
        Some(RerunFinding {
            claim: None,
            step: step.name.clone(),
            clients: step.clients,
            variant: cell.variant.clone(),
            metric: metric.to_owned(),
            outcome: outcome(&there, here.as_ref(), margin),
            is_size_alike: here.as_ref().and_then(|here| is_size_alike(&there, here)),
            there,
            here,
        })
    };
    step.cells.iter().filter_map(of_cell).collect()
}

/// Returns a published finding there and here; `None` when it was not measured there.
fn of_published(one: &HeldFinding, two: &HeldFinding, margin: f64) -> Option<RerunFinding> {
    let original = one.here.as_ref().ok()?;
    let (there, here) = (original.effect, two.here.as_ref().ok().map(|it| it.effect));
    Some(RerunFinding {
        claim: Some(one.published.claim.clone()),
        step: one.published.step.clone(),
        clients: original.clients,
        variant: one.published.variant.clone(),
        metric: one.published.metric.clone(),
        outcome: outcome(&there, here.as_ref(), margin),
        is_size_alike: here.as_ref().and_then(|here| is_size_alike(&there, here)),
        there,
        here,
    })
}

/// Compares the verdict of a rerun with the original one.
///
/// An original difference is reproduced by a difference in the same direction, and an original
/// equivalence by one: both are what `published::reproduction` requires of a published finding
/// without a size. What the original left open is undecided: a difference smaller than the margin
/// too, unless its 90 % interval lies within.
///
/// Source: [OSC 2015], a significant effect in the same direction; equivalence [Schuirmann 1987].
fn outcome(there: &Effect, here: Option<&Effect>, margin: f64) -> RerunOutcome {
    let Some(here) = here else { return RerunOutcome::NotMeasured };
    let is_none_that_matters =
        reproduction(Expected::Same, there, margin) == Reproduction::Reproduces;
    let expected = match there.verdict {
        _ if there.is_blocked || here.is_blocked => return RerunOutcome::Undecided,
        Verdict::Above => Expected::Higher,
        Verdict::Below => Expected::Lower,
        _ if is_none_that_matters => Expected::Same,
        Verdict::SmallButReal | Verdict::Equivalent | Verdict::Inconclusive => {
            return RerunOutcome::Undecided;
        }
    };
    match reproduction(expected, here, margin) {
        Reproduction::Reproduces | Reproduction::SameDirection | Reproduction::SizeUndecided => {
            RerunOutcome::Reproduced
        }
        Reproduction::Opposite | Reproduction::NoDifference | Reproduction::Differs => {
            RerunOutcome::NotReproduced
        }
        Reproduction::Undecided => RerunOutcome::Undecided,
        Reproduction::NotMeasured => RerunOutcome::NotMeasured,
    }
}

/// Returns whether two ratios differ by no more than the noise of both, at 95 %.
///
/// So the new ratio lies within the interval that the original predicts for it.
///
/// Source: [Patil Peng Leek 2016], prediction intervals for replications; standard errors are those
/// behind the two intervals.
fn is_size_alike(there: &Effect, here: &Effect) -> Option<bool> {
    let error = |effect: &Effect| {
        let (interval, df) = (effect.interval?, effect.df?);
        Some((interval.high / interval.low).ln() / (2.0 * student::half_width(0.95, df)))
    };
    let error = error(there)?.hypot(error(here)?);
    let df = there.df?.min(here.df?);
    Some((here.ratio / there.ratio).ln().abs() <= student::half_width(0.95, df) * error)
}

#[cfg(test)]
mod tests {
    use stats::Interval;

    use super::*;
    use crate::noise::NoiseHistory;
    use crate::testing::{experiment, run};
    use crate::{RerunOutcome as O, compare};

    /// Compares `b` with `a` over five runs each; `b` does this many per cent of what `a` does.
    fn compared(percent: u64) -> Comparison {
        let own = |name: &'static str, percent: u64, rates: [u64; 5]| {
            (1..).zip(rates).map(move |(n, ops)| run(name, n, ops * percent / 100))
        };
        let runs: Vec<_> = own("a", 100, [1_000, 1_004, 996, 1_002, 998])
            .chain(own("b", percent, [1_001, 999, 1_003, 997, 1_000]))
            .collect();
        compare(&runs, &experiment(&["a", "b"], 5), "a", &NoiseHistory::default()).unwrap()
    }

    fn found(there: u64, here: u64) -> (RerunOutcome, Option<bool>) {
        let all = rerun_findings(&compared(there), &compared(here), 0.02);
        assert_eq!(all.len(), 1, "{all:?}");
        (all[0].outcome, all[0].is_size_alike)
    }

    #[test]
    fn direction_decides_and_size_is_apart() {
        assert_eq!(found(150, 150), (O::Reproduced, Some(true)));
        assert_eq!(found(150, 120), (O::Reproduced, Some(false)));
        assert_eq!(found(150, 100).0, O::NotReproduced);
        assert_eq!(found(150, 80).0, O::NotReproduced);
        assert_eq!(found(80, 70).0, O::Reproduced);
        assert_eq!(found(100, 100).0, O::Reproduced);
        assert_eq!(found(100, 120).0, O::NotReproduced);
    }

    #[test]
    fn what_one_side_leaves_open_is_undecided() {
        let open = |mut effect: Effect| {
            effect.verdict = Verdict::Inconclusive;
            effect.interval = Some(Interval { low: 0.5, high: 2.0 });
            effect
        };
        let known = |percent| {
            let comparison = compared(percent);
            comparison.steps[0].cells[1].metrics[comparison.steps[0].primary.unwrap()]
                .versus_base
                .unwrap()
        };
        assert_eq!(outcome(&open(known(150)), Some(&known(150)), 0.02), O::Undecided);
        assert_eq!(outcome(&known(150), Some(&open(known(150))), 0.02), O::Undecided);
        assert_eq!(outcome(&known(150), None, 0.02), O::NotMeasured);
        let small = |high| Effect {
            verdict: Verdict::SmallButReal,
            ratio: 1.015,
            interval: Some(Interval { low: 1.003, high: 1.028 }),
            interval90: Some(Interval { low: 1.005, high }),
            ..known(100)
        };
        assert_eq!(outcome(&small(1.025), Some(&known(150)), 0.02), O::Undecided);
        assert_eq!(outcome(&small(1.019), Some(&known(150)), 0.02), O::NotReproduced);
        let blocked = Effect { is_blocked: true, ..known(150) };
        assert_eq!(outcome(&known(150), Some(&blocked), 0.02), O::Undecided);
    }
}
