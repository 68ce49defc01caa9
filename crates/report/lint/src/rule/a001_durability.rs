//! A001: durability differs between variants.

use analysis::per_op;
use model::record::Severity;
use std::collections::BTreeSet;

use model::{Durability, RunRecord, StepRecord, metric};

use super::{Checks, Observation, Rule};
use crate::context::{ComparisonContext, PlanContext};
use crate::facts::measured;

pub(crate) static RULE: Rule = Rule {
    code: "A001",
    name: "durability mismatch",
    severity: Severity::Blocking,
    trigger: "Blocking: the variants have different durability classes. Blocking: all variants \
              have class sync, one client writes, and one variant syncs less than once in two \
              operations and less than half as often as another variant, which syncs at least once \
              in two operations. Warning: all variants have class sync, one client writes, every \
              variant syncs at least once in two operations, and one variant syncs less than half \
              as often as another variant",
    why: "A variant that may lose acknowledged writes skips work that another variant does. The \
          measured difference is then a difference of guarantees.",
    remedy: "give all variants the same durability class, or waive A001 if the durability class is \
             what the experiment compares",
    source: "[Callaghan 2022-12-02] (SplinterDB does not sync writes); our choice: a factor of 2 \
             between the variants' syncs per operation",
    ..Rule::of(Checks { plan: Some(plan), comparison: Some(comparison), ..Checks::NONE })
};

/// Quotient of syncs per operation beyond which two variants of one class are unlike.
/// Our choice.
const RATIO: f64 = 2.0;
/// Syncs per operation of one client that a class of syncs stands for, at the very least: half of
/// one, for an engine that puts two operations into one sync by a thread of its own.
const SYNCS: f64 = 0.5;

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let variants = context.experiment.variants.iter();
    let classes: BTreeSet<_> = variants.map(|variant| variant.settings.durability).collect();
    if classes.len() < 2 {
        return Vec::new();
    }
    let names: Vec<_> = classes.iter().map(|class| class.name()).collect();
    vec![Observation::new(format!("durability classes differ: {}", names.join(", ")))]
}

/// Compares how often variants of class sync do sync, by the first run of each.
fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let is_reported = |run: &&RunRecord| run.variant.settings.durability == Durability::Sync;
    let of_run = |run: &RunRecord| -> Vec<(String, String, f64)> {
        let steps = measured(run).filter(|step| step.role().writes() && step.step.clients == 1);
        let name = &run.cell.variant;
        steps
            .filter_map(|step| Some((step.step.name.clone(), name.clone(), syncs(step)?)))
            .collect()
    };
    let first = context.valid().filter(is_reported).filter(|run| run.cell.repetition == 1);
    let all: Vec<_> = first.flat_map(of_run).collect();
    let names: BTreeSet<&String> = all.iter().map(|(step, ..)| step).collect();
    let observe = |name: &String| {
        let own = || all.iter().filter(|(step, ..)| step == name);
        let least = own().min_by(|a, b| a.2.total_cmp(&b.2))?;
        let most = own().max_by(|a, b| a.2.total_cmp(&b.2))?;
        (most.2 > least.2 * RATIO && most.2 >= SYNCS).then(|| {
            let evidence = format!(
                "{:.2} syncs per operation, against {:.2} in {}; both variants have class sync",
                least.2, most.2, most.1
            );
            let is_less = least.2 < SYNCS;
            let remedy = "trace the system calls of both variants to find which one meets its \
                          guarantee";
            let evidence =
                Observation::new(evidence).step(name).variant(&least.1).blocking_if(is_less);
            evidence.remedy(remedy).ranked("syncs", most.2 / least.2.max(1e-9))
        })
    };
    names.into_iter().filter_map(observe).collect()
}

/// Returns the syncs per operation that the engine counts, or else the device.
fn syncs(step: &StepRecord) -> Option<f64> {
    per_op(step, metric::ENGINE_FSYNCS).or_else(|| per_op(step, metric::DEVICE_FLUSHES))
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_plan, in_runs, runs, set, step};

    #[test]
    fn classes_that_differ_are_blocking() {
        let mut spec = experiment(&["a", "b"]);
        assert_eq!(in_plan(&RULE, &spec), []);
        spec.variants[1].settings.durability = Durability::Sync;
        let evidence = "durability classes differ: os, sync";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Blocking, evidence.to_owned())]);
    }

    #[test]
    fn a_variant_that_hardly_syncs_is_blocking() {
        let with = |a: f64, b: f64| {
            let (mut spec, mut runs) = (experiment(&["a", "b"]), runs(&["a", "b"]));
            for variant in &mut spec.variants {
                variant.settings.durability = Durability::Sync;
            }
            for run in &mut runs {
                run.variant.settings.durability = Durability::Sync;
                let per_op = if run.cell.variant == "a" { a } else { b };
                run.steps = vec![step("overwrite")];
                set(&mut run.steps[0].counters, &[(metric::ENGINE_FSYNCS, per_op * 600_000.0)]);
            }
            in_runs(&RULE, &spec, &runs)
        };
        assert_eq!(with(1.0, 2.0), []);
        let evidence = "overwrite of b: 0.01 syncs per operation, against 1.00 in a; both \
                        variants have class sync";
        assert_eq!(with(1.0, 0.01), [(Severity::Blocking, evidence.to_owned())]);
        assert_eq!(with(1.0, 2.5)[0].0, Severity::Warning);
        assert_eq!(with(0.01, 0.1), [], "neither syncs once per two operations");
    }
}
