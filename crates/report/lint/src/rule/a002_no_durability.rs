//! A002: nothing that is written would survive.

use model::record::Severity;
use model::{Durability, StepRecord};

use super::{Rule, Seen};
use crate::context::{PlanContext, RunContext};
use crate::look::{measured, reading, writes};

/// Writes are measured that no crash would leave.
pub(crate) static RULE: Rule = Rule {
    code: "A002",
    name: "no durability",
    severity: Severity::Warning,
    trigger: "writes of class none; blocking when a step of class sync wrote and the engine counted \
              no sync at all",
    why: "Writes that need not survive are cheaper than those that applications use: write \
          amplification is understated and throughput overstated.",
    remedy: "ask for the class that the application needs (durability = \"os\" or \"sync\")",
    source: "seed 001, \"Benchmark(et)ing RocksDB vs SplinterDB\" (write throughput will be \
             over-stated); reference, analysis, section 7, L02",
    plan: Some(plan),
    run: Some(run),
    ..Rule::SILENT
};

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let experiment = context.experiment;
    let is_written = experiment.steps.iter().any(writes);
    let lax = experiment
        .variants
        .iter()
        .filter(|variant| is_written && variant.settings.durability == Durability::None);
    let tell = |name: &str| Seen::new("writes of class none survive nothing").variant(name);
    lax.map(|variant| tell(&variant.name)).collect()
}

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let is_sync = context.run.variant.settings.durability == Durability::Sync;
    let has_none = |step: &&StepRecord| {
        is_sync && writes(&step.step) && reading(&step.counters, "engine_fsyncs") == Some(0.0)
    };
    let tell = |step: &StepRecord| {
        let evidence =
            Seen::new("class sync, and the engine counted no sync").step(&step.step.name);
        evidence.graded(Severity::Blocking).sized("none counted", 0.0)
    };
    measured(context.run).filter(has_none).map(tell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_plan, in_runs, runs, set, step};

    #[test]
    fn writes_of_class_none_are_told() {
        let mut asked = experiment(&["a", "b"]);
        asked.variants[1].settings.durability = Durability::None;
        assert_eq!(in_plan(&RULE, &asked), [], "it only reads");
        asked.steps.push(step("overwrite").step);
        let evidence = "b: writes of class none survive nothing";
        assert_eq!(in_plan(&RULE, &asked), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn class_sync_without_a_sync_is_blocking() {
        let with = |syncs| {
            let mut runs = runs(&["a"]);
            for run in &mut runs {
                run.variant.settings.durability = Durability::Sync;
                run.steps = vec![step("overwrite")];
                set(&mut run.steps[0].counters, &[("engine_fsyncs", syncs)]);
            }
            in_runs(&RULE, &experiment(&["a"]), &runs)
        };
        assert_eq!(with(600_000.0), []);
        assert_eq!(with(0.0)[0].0, Severity::Blocking);
    }
}
