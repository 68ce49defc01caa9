//! A part of a comparison: some of its steps and variants.

use crate::comparison::{CellComparison, Comparison, Pair};

impl Comparison {
    /// Returns the comparison with the steps and variants that are wanted, and with its base.
    ///
    /// Verdicts stay as they are: they are adjusted for all comparisons, hidden or not.
    pub fn narrowed(
        &self,
        has_step: &dyn Fn(&str) -> bool,
        has_variant: &dyn Fn(&str) -> bool,
    ) -> Self {
        let mut narrowed = self.clone();
        let is_wanted = |name: &str| name == self.base || has_variant(name);
        let retain = |cells: &mut Vec<CellComparison>| cells.retain(|it| is_wanted(&it.variant));
        narrowed.steps.retain(|step| has_step(&step.name));
        for step in &mut narrowed.steps {
            retain(&mut step.cells);
            step.parts.iter_mut().for_each(|part| retain(&mut part.cells));
        }
        narrowed.runs.iter_mut().for_each(|runs| retain(&mut runs.cells));
        narrowed.variants.retain(|variant| is_wanted(&variant.name));
        let wanted: Vec<usize> = (0..self.variants.len())
            .filter(|place| is_wanted(&self.variants[*place].name))
            .collect();
        let place = |of: usize| wanted.iter().position(|place| *place == of);
        for trade_off in &mut narrowed.trade_offs {
            trade_off.means = wanted.iter().map(|place| trade_off.means[*place]).collect();
            let pairs = trade_off.pairs.iter().filter_map(|pair| {
                Some(Pair { variant: place(pair.variant)?, base: place(pair.base)?, ..*pair })
            });
            trade_off.pairs = pairs.collect();
        }
        narrowed
    }
}
