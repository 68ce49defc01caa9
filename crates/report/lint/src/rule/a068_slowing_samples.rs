//! A068: sampling the server's waits slowed it.

use super::{Observation, Rule, code};
use crate::context::RunContext;

/// Least loss that is reported.
const LOSS: f64 = 0.01;

pub(crate) static RULE: Rule = Rule {
    code: code::A068,
    name: "slowed by samples",
    trigger: "seconds in which waits of the server were sampled had less throughput than those in \
              which they were not, by more than 1 % at 99 % confidence",
    why: "The figures are then those of a server that is also observed, and a server with more \
          sessions or slower views pays more.",
    remedy: "set assay.waits = \"off\" in the variant's options and run again",
    source: "differences of blocks of four seconds [Hodges Lehmann 1963]; the limit is our choice",
    run: Some(run),
    ..Rule::EMPTY
};

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let slowed = context.run.steps.iter().filter_map(|step| {
        let effect = step.waits.as_ref()?.effect.filter(|effect| effect.high < 1.0 - LOSS)?;
        let evidence = format!(
            "seconds with samples had {:.3} [{:.3}, {:.3}] of the throughput of those without",
            effect.ratio, effect.low, effect.high
        );
        Some(Observation::new(evidence).step(&step.step.name).ranked("slower", 1.0 - effect.ratio))
    });
    slowed.collect()
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
}
