//! A068: sampling the server's waits slowed it.

use std::collections::BTreeMap;

use stats::rank::centre_of_many;

use super::{Checks, Observation, Rule};
use crate::context::{ComparisonContext, RunContext};

/// Least loss that is reported.
const LOSS: f64 = 0.01;
/// Level of the interval over all steps of a variant.
const LEVEL: f64 = 0.99;

pub(crate) static RULE: Rule = Rule {
    code: "A068",
    name: "slowed by sampling",
    trigger: "in a step, or in all steps of a variant together, seconds in which Assay sampled the \
              server's waits had more than 1 % less throughput than seconds without samples (99 % \
              confidence)",
    why: "The figures include the cost of the sampling. Sampling costs more on a server with more \
          sessions or slower views.",
    remedy: "set assay.waits = \"off\" in the variant's options and run again",
    source: "the loss is estimated [Hodges Lehmann 1963] from differences of blocks of four \
             seconds; our choice: the limit of 1 %",
    ..Rule::of(Checks { run: Some(run), comparison: Some(comparison), ..Checks::NONE })
};

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let slowed = context.run.steps.iter().filter_map(|step| {
        let effect = step.waits.as_ref()?.effect?;
        let found = observation([effect.ratio, effect.low, effect.high])?;
        Some(found.step(&step.step.name))
    });
    slowed.collect()
}

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut of_variants: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for run in context.valid() {
        let effects = run.steps.iter().filter_map(|step| step.waits.as_ref()?.effect);
        let logs = of_variants.entry(&run.cell.variant).or_default();
        logs.extend(effects.map(|effect| effect.ratio.ln()));
    }
    let slowed = of_variants.iter().filter_map(|(variant, logs)| {
        let found = centre_of_many(logs, LEVEL)?;
        let found = observation([found.value, found.low, found.high].map(f64::exp))?;
        Some(found.variant(variant))
    });
    slowed.collect()
}

/// Returns an observation of a certain loss.
fn observation([ratio, low, high]: [f64; 3]) -> Option<Observation> {
    let evidence = format!(
        "seconds with samples had {ratio:.3}x [{low:.3}, {high:.3}] the throughput of seconds \
         without samples"
    );
    let is_slowed = high < 1.0 - LOSS;
    is_slowed.then(|| Observation::new(evidence).ranked("slower", 1.0 - ratio))
}

#[cfg(test)]
mod tests {
    use model::{SamplingEffect, WaitProfile};

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn only_a_certain_loss_is_reported() {
        let found = |high: f64| {
            let mut runs = runs(&["a"]);
            let effect = Some(SamplingEffect { ratio: 0.97, low: 0.95, high, blocks: 15 });
            runs[0].steps[0].waits =
                Some(Box::new(WaitProfile { effect, ..WaitProfile::default() }));
            in_runs(&RULE, &experiment(&["a"]), &runs).len()
        };
        assert_eq!((found(0.985), found(0.995)), (1, 0));
    }

    #[test]
    fn what_no_step_shows_the_steps_of_a_variant_show_together() {
        let found = |ratio: f64, count: usize| {
            let mut all = runs(&["a"]);
            let step = all[0].steps[0].clone();
            let steps = (0..count).map(|at| {
                let ratio = ratio + 0.001 * (at % 5) as f64;
                let effect = Some(SamplingEffect { ratio, low: 0.9, high: 1.1, blocks: 11 });
                let waits = Some(Box::new(WaitProfile { effect, ..WaitProfile::default() }));
                model::StepRecord { waits, ..step.clone() }
            });
            all[0].steps = steps.collect();
            in_runs(&RULE, &experiment(&["a"]), &all).len()
        };
        assert_eq!((found(0.97, 12), found(0.992, 12), found(0.97, 4)), (1, 0, 0));
    }
}
