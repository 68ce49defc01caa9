//! A039: too few repetitions to estimate the noise.

use super::{Checks, Observation};
use crate::context::PlanContext;
use crate::registry::code;

pub(crate) static RULE: Checks = Checks { code: code::A039, plan: Some(plan), ..Checks::EMPTY };

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let evidence = match context.experiment.repetitions {
        1 => "every cell is run once: no difference can be distinguished from noise".to_owned(),
        n if n < 3 => format!("{n} repetitions: run-to-run noise is poorly known"),
        _ => return Vec::new(),
    };
    vec![Observation::new(evidence)]
}
