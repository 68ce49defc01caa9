//! A039: too few repetitions to estimate the noise.

use super::{Checks, Observation, Origin, Rule};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: "A039",
    name: "too few repetitions",
    trigger: "the experiment has fewer than 3 repetitions",
    why: "The unit of analysis is a run. With one run of each variant, a difference cannot be \
          distinguished from noise. With two runs of each variant, the noise itself is hardly \
          known.",
    remedy: "set `repetitions` to 3 or more (--repetitions 3)",
    source: "our choice: two runs leave one degree of freedom for the estimate of the noise",
    ..Rule::of(Checks { origin: Origin::ChosenSize, plan: Some(plan), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let evidence = match context.experiment.repetitions {
        1 => "every cell has one run: no difference can be distinguished from noise".to_owned(),
        n if n < 3 => format!("{n} repetitions: run-to-run noise is poorly known"),
        _ => return Vec::new(),
    };
    vec![Observation::new(evidence)]
}
