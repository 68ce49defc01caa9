//! A029: queries right after a load in key order.

use model::step::name;
use model::{Step, StepRole};

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: "A029",
    name: "key-order load",
    trigger: "a step only reads, and `fillseq` is the only step that wrote before it",
    why: "After a load in key order, files do not overlap and pages are full. Queries are cheaper \
          than on data that was updated.",
    remedy: "load with `filluniquerandom`, or put `overwritesome` and `settle` before the reads",
    source: "[Callaghan 2022-08-23] (if the load is done in key order ... which hides some of the \
             overhead), [Callaghan 2022-08-18] (fragment the LSM tree)",
    ..Rule::of(Checks { plan: Some(plan), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let steps = &context.experiment.steps;
    let is_before =
        |index: usize, wanted: &dyn Fn(&Step) -> bool| steps[..index].iter().any(wanted);
    let role = |step: &Step| step.role(context.experiment.application.as_ref());
    let observe = |(index, step): (usize, &Step)| {
        let is_loaded = is_before(index, &|step| step.name == name::FILLSEQ);
        let is_touched =
            is_before(index, &|step| step.name != name::FILLSEQ && role(step).writes());
        (role(step) == StepRole::Read && is_loaded && !is_touched).then(|| {
            Observation::new("the step reads rows that `fillseq` wrote in key order")
                .step(&step.name)
        })
    };
    steps.iter().enumerate().filter_map(observe).collect()
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_plan, step};

    #[test]
    fn reads_after_a_load_in_key_order_are_reported() {
        let with = |names: &[&str]| {
            let mut spec = experiment(&["a"]);
            spec.steps = names.iter().map(|name| step(name).step).collect();
            in_plan(&RULE, &spec)
        };
        assert_eq!(with(&["filluniquerandom", "readrandom"]), []);
        assert_eq!(with(&["fillseq", "overwritesome", "settle", "readrandom"]), []);
        let evidence = "readrandom: the step reads rows that `fillseq` wrote in key order, \
                        likewise in 1 other step";
        let found = with(&["fillseq", "settle", "readrandom", "fwdrange", "overwrite"]);
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }
}
