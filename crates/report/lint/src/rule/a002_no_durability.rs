//! A002: writes without durability.

use model::record::Severity;
use model::{Durability, StepRecord, Variant, metric};

use super::{Checks, Observation, Origin, Rule};
use crate::context::{PlanContext, RunContext};

pub(crate) static RULE: Rule = Rule {
    code: "A002",
    name: "no durability",
    trigger: "Warning: a step writes with durability class none. Blocking: a step wrote with \
              durability class sync, and the engine counted no syncs",
    why: "Writes that may be lost are cheaper than the writes that applications use. Write \
          amplification is understated and throughput is overstated.",
    remedy: "request the class that the application needs (durability = \"os\" or \"sync\")",
    source: "[Callaghan 2022-12-02] (write throughput will be over-stated)",
    ..Rule::of(Checks {
        origin: Origin::Chosen,
        variant: Some(lax),
        measured: &[uncounted],
        ..Checks::NONE
    })
};

fn lax(context: &PlanContext<'_>, variant: &Variant) -> Option<Observation> {
    let experiment = context.experiment;
    let application = experiment.application.as_ref();
    let is_written = experiment.steps.iter().any(|step| step.role(application).writes());
    (is_written && variant.settings.durability == Durability::None)
        .then(|| Observation::new("a crash loses writes of durability class none"))
}

fn uncounted(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let is_sync = context.run.variant.settings.durability == Durability::Sync;
    let has_none = step.counters.value(metric::ENGINE_FSYNCS) == Some(0.0);
    (is_sync && step.role().writes() && has_none).then(|| {
        let evidence =
            Observation::new("the durability class is sync, but the engine counted no syncs");
        evidence.severity(Severity::Blocking).ranked("none counted", 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_plan, in_runs, runs, set, step};

    #[test]
    fn writes_of_class_none_are_reported() {
        let mut spec = experiment(&["a", "b"]);
        spec.variants[1].settings.durability = Durability::None;
        assert_eq!(in_plan(&RULE, &spec), [], "it only reads");
        spec.steps.push(step("overwrite").step);
        let evidence = "b: a crash loses writes of durability class none";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn class_sync_without_a_sync_is_blocking() {
        let with = |syncs| {
            let mut runs = runs(&["a"]);
            for run in &mut runs {
                run.variant.settings.durability = Durability::Sync;
                run.steps = vec![step("overwrite")];
                set(&mut run.steps[0].counters, &[(metric::ENGINE_FSYNCS, syncs)]);
            }
            in_runs(&RULE, &experiment(&["a"]), &runs)
        };
        assert_eq!(with(600_000.0), []);
        assert_eq!(with(0.0)[0].0, Severity::Blocking);
    }
}
