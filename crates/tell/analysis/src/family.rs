//! Which comparisons are told together, and what their number does to the verdicts.

use model::{Better, Experiment, metric};
use serde::Serialize;
use stats::family::benjamini_hochberg;
use stats::{Effect, Verdict};

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
    /// Of these, differences that would be told if each were the only one.
    pub told: u32,
    /// Of these again, differences that are not told, because so many are looked at.
    pub withdrawn: u32,
}

/// Adjusts every comparison for the number of those that are told together; the control is judged
/// alone.
///
/// A metric that is better neither way explains and claims nothing: it is in no family.
///
/// Source: the project's reference, analysis, section 1.6.
pub(crate) fn adjust(comparison: &mut Comparison, experiment: &Experiment) -> Families {
    let margin = comparison.margin;
    let is_in = |variant: &str| !is_control(experiment, &comparison.base, variant);
    let (mut primary, mut secondary) = (Vec::new(), Vec::new());
    for step in &mut comparison.steps {
        for (name, effect) in
            step.cells.iter_mut().filter(|cell| is_in(&cell.variant)).flat_map(effects)
        {
            if step.primary == Some(name) {
                primary.push(effect);
            } else if has_direction(name) {
                secondary.push(effect);
            }
        }
    }
    let cells = comparison.runs.iter_mut().flat_map(|runs| &mut runs.cells);
    let of_runs = cells.filter(|cell| is_in(&cell.variant)).flat_map(effects);
    secondary.extend(of_runs.filter(|(name, _)| has_direction(name)).map(|(_, effect)| effect));
    Families { primary: together(primary, margin), secondary: together(secondary, margin) }
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
fn together(mut effects: Vec<&mut Effect>, margin: f64) -> Family {
    let told = effects.iter().filter(|effect| is_told(effect)).count();
    let chances: Vec<f64> = effects.iter().filter_map(|effect| effect.p).collect();
    for (effect, q) in effects.iter_mut().zip(benjamini_hochberg(&chances)) {
        effect.adjust(q, margin);
    }
    let still = effects.iter().filter(|effect| is_told(effect)).count();
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    Family {
        comparisons: count(effects.len()),
        told: count(told),
        withdrawn: count(told.saturating_sub(still)),
    }
}

/// Returns whether a difference is told.
fn is_told(effect: &Effect) -> bool {
    matches!(effect.verdict, Verdict::Above | Verdict::Below | Verdict::SmallButReal)
}
