//! A039: too few repetitions to know the noise.

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::PlanContext;

/// Few repetitions leave the run-to-run noise poorly known.
pub(crate) static RULE: Rule = Rule {
    code: "A039",
    name: "too few repetitions",
    severity: Severity::Warning,
    trigger: "fewer than 3 repetitions",
    why: "The unit of analysis is a run. With one run each a difference cannot be told from noise, \
          with two the noise itself is hardly known.",
    remedy: "set `repetitions` to 3 or more (--repetitions 3)",
    source: "reference, analysis, section 7, L39, and section 1.5",
    plan: Some(plan),
    ..Rule::SILENT
};

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let evidence = match context.experiment.repetitions {
        1 => "every cell is run once: no difference can be told from noise".to_owned(),
        n if n < 3 => format!("{n} repetitions: run-to-run noise is poorly known"),
        _ => return Vec::new(),
    };
    vec![Seen::new(evidence)]
}
