//! Which comparisons are told together, and what their number does to the verdicts.

use model::{Better, Experiment, metric};
use serde::Serialize;
use stats::{Effect, Verdict, Why};

use crate::comparison::{CellComparison, Comparison};

/// The comparisons of an experiment by what they are for; each part is adjusted by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Families {
    /// Each step's own question ([`crate::StepComparison::primary`]), for each variant.
    pub primary: Family,
    /// Every other metric that is better one way, for each step and variant.
    pub secondary: Family,
}

/// Comparisons that are judged together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Family {
    /// Comparisons in it.
    pub comparisons: u32,
    /// Of these, told apart from no difference when looked at alone.
    pub apart: u32,
    /// Of these again, no longer told apart among so many.
    pub withdrawn: u32,
}

/// Adjusts every comparison for the number of those that are told together; the control is judged
/// alone.
///
/// A metric that is better neither way explains and claims nothing: it is in no family.
///
/// Source: the project's reference, analysis, section 1.6.
pub(crate) fn adjust(comparison: &mut Comparison, experiment: &Experiment) -> Families {
    let is_told = |variant: &str| !is_control(experiment, &comparison.base, variant);
    let (mut primary, mut secondary) = (Vec::new(), Vec::new());
    for step in &mut comparison.steps {
        for (name, effect) in
            step.cells.iter_mut().filter(|cell| is_told(&cell.variant)).flat_map(effects)
        {
            if step.primary == Some(name) {
                primary.push(effect);
            } else if has_direction(name) {
                secondary.push(effect);
            }
        }
    }
    let cells = comparison.runs.iter_mut().flat_map(|runs| &mut runs.cells);
    let of_runs = cells.filter(|cell| is_told(&cell.variant)).flat_map(effects);
    secondary.extend(of_runs.filter(|(name, _)| has_direction(name)).map(|(_, effect)| effect));
    Families { primary: together(primary), secondary: together(secondary) }
}

/// Returns whether two variants are the same thing under two names: any verdict would be false.
fn is_control(experiment: &Experiment, base: &str, variant: &str) -> bool {
    let is = |name: &str| experiment.variant(name).is_some_and(|variant| variant.is_control);
    is(variant) || is(base) && variant == experiment.base
}

/// Returns a cell's comparisons that have a chance to be adjusted, with their metrics.
fn effects(cell: &mut CellComparison) -> impl Iterator<Item = (&str, &mut Effect)> {
    let all = cell.metrics.iter_mut();
    let versus = all.filter_map(|(name, one)| Some((name.as_str(), one.versus_base.as_mut()?)));
    versus.filter(|(_, effect)| effect.p.is_some())
}

fn has_direction(name: &str) -> bool {
    metric::find(name).is_some_and(|metric| metric.better != Better::Neither)
}

/// Adjusts the comparisons of one family.
fn together(effects: Vec<&mut Effect>) -> Family {
    let apart = effects.iter().filter(|effect| is_apart(effect)).count();
    let withdrawn = effects.iter().filter(|effect| effect.why == Some(Why::Family)).count();
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    Family { comparisons: count(effects.len()), apart: count(apart), withdrawn: count(withdrawn) }
}

fn is_apart(effect: &Effect) -> bool {
    matches!(effect.verdict, Verdict::Above | Verdict::Below | Verdict::SmallButReal)
}
