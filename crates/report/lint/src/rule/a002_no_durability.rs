//! A002: writes without durability.

use model::record::Severity;
use model::{Durability, StepRecord, metric};

use super::{Observation, Rule};
use crate::context::{PlanContext, RunContext};
use crate::facts::measured;
use crate::registry::code;

/// Measured writes that a crash may lose.
pub(crate) static RULE: Rule = Rule {
    code: code::A002,
    name: "no durability",
    severity: Severity::Warning,
    trigger: "writes of class none; blocking when a step of class sync wrote and the engine counted \
              no sync at all",
    why: "Writes that need not survive are cheaper than those that applications use: write \
          amplification is understated and throughput overstated.",
    remedy: "request the class that the application needs (durability = \"os\" or \"sync\")",
    source: "[Callaghan 2022-12-02] (write throughput will be over-stated)",
    plan: Some(plan),
    run: Some(run),
    ..Rule::EMPTY
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let experiment = context.experiment;
    let application = experiment.application.as_ref();
    let is_written = experiment.steps.iter().any(|step| step.role(application).writes());
    let lax = experiment
        .variants
        .iter()
        .filter(|variant| is_written && variant.settings.durability == Durability::None);
    let observe =
        |name: &str| Observation::new("writes of class none are lost in a crash").variant(name);
    lax.map(|variant| observe(&variant.name)).collect()
}

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let is_sync = context.run.variant.settings.durability == Durability::Sync;
    let has_none = |step: &&StepRecord| {
        is_sync && step.role().writes() && step.counters.value(metric::ENGINE_FSYNCS) == Some(0.0)
    };
    let observe = |step: &StepRecord| {
        let evidence =
            Observation::new("class sync, and the engine counted no sync").step(&step.step.name);
        evidence.severity(Severity::Blocking).ranked("none counted", 0.0)
    };
    measured(context.run).filter(has_none).map(observe).collect()
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
        let evidence = "b: writes of class none are lost in a crash";
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
