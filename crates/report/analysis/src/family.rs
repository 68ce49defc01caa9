//! Multiple-comparison families and their adjustment.

use model::{Better, Experiment, count, metric};
use stats::family::benjamini_hochberg;
use stats::{Effect, Verdict};

use crate::comparison::{CellComparison, Comparison, Families, Family, TradeOff};

/// Adjusts the p-values of every family; comparisons of the control are separate families.
///
/// A metric that is better neither way makes no claim: it is in no family.
///
/// Source: [Benjamini Hochberg 1995]; three families are our choice, so that many secondary metrics
/// do not hide a step's primary one, nor many statements either, and the control apart, so that it
/// shows what chance does.
pub(crate) fn adjust(comparison: &mut Comparison, experiment: &Experiment) -> Families {
    let base = comparison.base.clone();
    let mut of = |is_of_control: bool| {
        let is_in = |variant: &str| is_control(experiment, &base, variant) == is_of_control;
        adjust_variants(comparison, &is_in)
    };
    let ([control, ..], [primary, secondary, parts]) = (of(true), of(false));
    Families { primary, secondary, parts, control }
}

/// Adjusts the primary and the secondary family of some variants, and that of parts.
fn adjust_variants(comparison: &mut Comparison, is_in: &dyn Fn(&str) -> bool) -> [Family; 3] {
    let (margin, is_declared) = (comparison.margin, comparison.is_declared);
    let (mut primary, mut secondary, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for step in &mut comparison.steps {
        let is_about = !(is_declared && step.is_preparatory);
        let own: Vec<&str> = step.own_metrics().filter(|_| is_about).collect();
        let of_parts = step.parts.iter_mut().flat_map(|part| &mut part.cells);
        let of_parts = of_parts.filter(|cell| is_in(&cell.variant)).flat_map(effects);
        parts.extend(of_parts.filter(|(name, _)| has_direction(name)).map(|(_, effect)| effect));
        for (name, effect) in
            step.cells.iter_mut().filter(|cell| is_in(&cell.variant)).flat_map(effects)
        {
            if own.contains(&name) {
                primary.push(effect);
            } else if has_direction(name) {
                secondary.push(effect);
            }
        }
    }
    let cells = comparison.runs.iter_mut().flat_map(|runs| &mut runs.cells);
    let of_runs = cells.filter(|cell| is_in(&cell.variant)).flat_map(effects);
    secondary.extend(of_runs.filter(|(name, _)| has_direction(name)).map(|(_, effect)| effect));
    [primary, secondary, parts].map(|family| adjust_family(family, margin))
}

/// Adjusts the p-values of every pair: the pairs of all trade-offs are one family.
///
/// Source: [Benjamini Hochberg 1995]; one family is our choice: they are read as one table.
pub(crate) fn adjust_pairs(trade_offs: &mut [TradeOff], margin: f64) {
    let pairs = trade_offs.iter_mut().flat_map(|one| &mut one.pairs);
    let effects = pairs.map(|pair| &mut pair.effect).filter(|effect| effect.p.is_some());
    adjust_family(effects.collect(), margin);
}

/// Returns whether one variant is the control of the other: any significant difference is false.
fn is_control(experiment: &Experiment, base: &str, variant: &str) -> bool {
    let is = |name: &str| experiment.variant(name).is_some_and(|variant| variant.is_control);
    is(variant) || is(base) && variant == experiment.base
}

/// Returns a cell's comparisons that have a p-value, with their metrics.
fn effects(cell: &mut CellComparison) -> impl Iterator<Item = (&str, &mut Effect)> {
    let all = cell.metrics.iter_mut();
    let versus = all.filter_map(|(name, one)| Some((name.as_str(), one.versus_base.as_mut()?)));
    versus.filter(|(_, effect)| effect.p.is_some())
}

fn has_direction(name: &str) -> bool {
    metric::find(name).is_some_and(|metric| metric.better != Better::Neither)
}

/// Adjusts the comparisons of one family.
fn adjust_family(mut effects: Vec<&mut Effect>, margin: f64) -> Family {
    let significant = effects.iter().filter(|effect| is_significant(effect)).count();
    let chances: Vec<f64> = effects.iter().filter_map(|effect| effect.p).collect();
    for (effect, q) in effects.iter_mut().zip(benjamini_hochberg(&chances)) {
        effect.adjust(q, margin);
    }
    let still = effects.iter().filter(|effect| is_significant(effect)).count();
    Family {
        comparisons: count(effects.len()),
        significant: count(significant),
        withdrawn: count(significant.saturating_sub(still)),
    }
}

/// Returns whether a difference is established.
fn is_significant(effect: &Effect) -> bool {
    matches!(effect.verdict, Verdict::Above | Verdict::Below | Verdict::SmallButReal)
}

#[cfg(test)]
mod tests {
    use model::StepRecord;
    use stats::Why;

    use super::*;
    use crate::compare;
    use crate::noise::NoiseHistory;
    use crate::testing::{experiment, run};

    const METRIC: &str = metric::THROUGHPUT_OPS_PER_S.name;

    /// Goal: one difference that is significant alone is withdrawn among six, and the control is
    /// a family of its own. Method: five variants like the base, whose runs are the base's in
    /// another order, and one 1.5 % faster, for which p is 0.02.
    #[test]
    fn chance_difference_is_withdrawn_and_control_is_a_family_of_its_own() {
        let names = ["base", "a", "b", "c", "d", "e", "lucky", "twin"];
        let mut spec = experiment(&names, 3);
        spec.variants[7].is_control = true;
        let mut runs = Vec::new();
        for name in names {
            let factor: u64 = if matches!(name, "lucky" | "twin") { 1_025 } else { 1_000 };
            let of = |(repetition, ops)| run(name, repetition, ops * factor);
            runs.extend((1..).zip([1_000, 1_010, 990]).map(of));
        }
        let comparison = compare(&runs, &spec, "base", &NoiseHistory::default()).unwrap();
        let effect =
            |index: usize| comparison.steps[0].cells[index].metrics[METRIC].versus_base.unwrap();
        let (lucky, twin) = (effect(6), effect(7));
        assert_eq!(lucky.p, twin.p);
        assert_eq!((twin.q, twin.verdict), (twin.p, Verdict::Above), "{twin:?}");
        assert_eq!((lucky.verdict, lucky.why), (Verdict::Inconclusive, Some(Why::Family)));
        assert!(lucky.p.is_some_and(|p| (0.01..0.05).contains(&p)), "{lucky:?}");
        assert_eq!(lucky.q, lucky.p.map(|p| 6.0 * p));
        let primary = Family { comparisons: 6, significant: 1, withdrawn: 1 };
        assert_eq!(comparison.families.primary, primary);
        assert_eq!(comparison.control.as_deref(), Some("twin"));
        let control = Family { comparisons: 1, significant: 1, withdrawn: 0 };
        assert_eq!(comparison.families.control, control);
    }

    /// Goal: the control is adjusted for its number. Method: a twin with four steps, of which one
    /// is significant alone (p is 0.02).
    #[test]
    fn control_with_four_steps_is_adjusted_for_four() {
        let mut spec = experiment(&["base", "twin"], 3);
        spec.variants[1].is_control = true;
        let mut runs = Vec::new();
        for (name, lucky) in [("base", 1_000), ("twin", 1_025)] {
            for (repetition, ops) in (1..).zip([1_000, 1_010, 990]) {
                let mut one = run(name, repetition, ops * 1_000);
                let first = run(name, repetition, ops * lucky).steps.remove(0);
                let rest = (1..4).map(|index| StepRecord { index, ..one.steps[0].clone() });
                one.steps = std::iter::once(first).chain(rest).collect();
                runs.push(one);
            }
        }
        let comparison = compare(&runs, &spec, "base", &NoiseHistory::default()).unwrap();
        let control = Family { comparisons: 4, significant: 1, withdrawn: 1 };
        assert_eq!(comparison.families.control, control);
        assert!(comparison.families.primary.is_empty());
        let effect = comparison.steps[0].cells[1].metrics[METRIC].versus_base.unwrap();
        assert_eq!((effect.verdict, effect.why), (Verdict::Inconclusive, Some(Why::Family)));
    }

    #[test]
    fn control_pair_is_in_no_family() {
        let mut spec = experiment(&["base", "twin", "other"], 2);
        spec.variants[1].is_control = true;
        assert!(is_control(&spec, "base", "twin") && is_control(&spec, "twin", "base"));
        assert!(!is_control(&spec, "base", "other") && !is_control(&spec, "twin", "other"));
    }

    #[test]
    fn neutral_metrics_are_in_no_family() {
        assert!(
            has_direction(metric::CPU_US_PER_OP.name) && !has_direction(metric::BUSY_THREADS.name)
        );
        assert!(!has_direction("no_such_metric"));
    }
}
