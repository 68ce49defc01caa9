//! A066: a statement's plan changed.

use std::collections::BTreeMap;

use model::record::Severity;
use model::{RunRecord, StatementRecord, StepRecord};

use super::{Checks, Observation, Rule};
use crate::context::{ComparisonContext, RunContext};

pub(crate) static RULE: Rule = Rule {
    code: "A066",
    name: "plan changed",
    trigger: "Warning: the access paths of a statement differ between the runs of a variant, or \
              between the beginning and the end of a measured step. Note: the access paths of a \
              statement differ between variants of one engine",
    why: "A statement with another plan is another program. A difference of throughput, or its \
          noise, may come from the planner's choice and not from the engine's speed.",
    remedy: "refresh the statistics before the step (settle), fix the plan with options of the \
             server, or read the difference as a difference of plans",
    source: "our choice: plans are compared by their nodes, tables and indexes, without values and \
             estimates",
    ..Rule::of(Checks { run: Some(run), comparison: Some(comparison), ..Checks::NONE })
};

/// A step, a procedure and its statement.
type Place<'a> = (u32, &'a str, &'a str, u32);

/// Reports plans that changed within a measured step.
fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let measured = |step: &&StepRecord| !context.experiment.is_preparatory(&step.step.name);
    let changed = context.run.steps.iter().filter(measured).filter_map(|step| {
        let evidence = step.statements.iter().find_map(changed)?;
        Some(Observation::new(evidence).step(&step.step.name).ranked("within", 0.0))
    });
    changed.collect()
}

/// Returns how a statement's plan changed within its step, if it did.
fn changed(one: &StatementRecord) -> Option<String> {
    let both = pair(one.plan_before.as_deref()?, one.plan_after.as_deref()?);
    Some(format!("the plan of {} (statement {}) changed: {both}", one.procedure, one.number))
}

/// Returns the first lines in which two plans differ.
fn pair(before: &str, after: &str) -> String {
    let lines = before.lines().zip(after.lines()).find(|(one, other)| one != other);
    let (one, other) = lines.unwrap_or((before, after));
    format!("`{}` against `{}`", one.trim(), other.trim())
}

/// Reports plans that differ between runs of one variant, and between variants of one engine.
fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut first: BTreeMap<(&str, Place<'_>), (&RunRecord, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    for run in context.valid() {
        let Some(identity) = &run.identity else { continue };
        for (place, plan) in plans(run) {
            let (known, other) =
                *first.entry((identity.engine.as_str(), place)).or_insert((run, plan));
            if plan != other {
                found.push(unlike(place, known, run, &pair(other, plan)));
            }
        }
    }
    found
}

/// Reports the plan of a run that differs from a known run's.
///
/// Variants may be meant to differ in it; runs of one variant may not.
fn unlike(place: Place<'_>, known: &RunRecord, run: &RunRecord, both: &str) -> Observation {
    let (_, step, procedure, number) = place;
    let is_same = known.cell.variant == run.cell.variant;
    let (than, severity, kind) = match is_same {
        true => (format!("run {}", known.cell.id), Severity::Warning, "runs"),
        false => (known.cell.variant.clone(), Severity::Note, "variants"),
    };
    let evidence =
        format!("the plan of {procedure} (statement {number}) differs from {than}: {both}");
    let observation = Observation::new(evidence).variant(&run.cell.variant).step(step);
    let observation = observation.severity(severity).ranked(kind, 0.0);
    if is_same { observation.run(&run.id) } else { observation }
}

/// Returns the plan of each statement at the end of its step.
fn plans(run: &RunRecord) -> Vec<(Place<'_>, &str)> {
    let mut all = Vec::new();
    for step in &run.steps {
        for one in &step.statements {
            let (name, procedure) = (step.step.name.as_str(), one.procedure.as_str());
            let place = (step.index, name, procedure, one.number);
            all.extend(one.last_plan().map(|plan| (place, plan)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use model::Identity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    /// Runs of two variants of one engine, with the plan that `plan` gives each.
    fn with(plan: impl Fn(&RunRecord) -> (&'static str, &'static str)) -> Vec<(Severity, String)> {
        let mut runs = runs(&["a", "b"]);
        for run in &mut runs {
            run.identity = Some(Identity { engine: "postgres".to_owned(), ..Identity::default() });
            let (before, after) = plan(run);
            run.steps[0].statements = vec![StatementRecord {
                procedure: "query".to_owned(),
                number: 1,
                plan_before: Some(before.to_owned()),
                plan_after: Some(after.to_owned()).filter(|after| after != before),
                ..StatementRecord::default()
            }];
        }
        in_runs(&RULE, &experiment(&["a", "b"]), &runs)
    }

    #[test]
    fn equal_plans_are_no_finding() {
        assert_eq!(with(|_| ("Index Scan", "Index Scan")), []);
    }

    #[test]
    fn another_plan_in_one_run_is_a_warning_and_in_a_variant_a_note() {
        let in_one = |run: &RunRecord| run.cell.variant == "a" && run.cell.repetition == 2;
        let found = with(|run| {
            let plan = if in_one(run) { "Limit\n  Seq Scan" } else { "Limit\n  Index Scan" };
            (plan, plan)
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, Severity::Warning);
        let expected = "the plan of query (statement 1) differs from run a.c1.r1: `Index Scan` \
                        against `Seq Scan`";
        assert!(found[0].1.contains(expected), "{found:?}");
        let found =
            with(
                |run| {
                    if run.cell.variant == "b" {
                        ("Seq Scan", "Seq Scan")
                    } else {
                        ("Sort", "Sort")
                    }
                },
            );
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, Severity::Note);
        assert!(found[0].1.contains("differs from a: `Sort` against `Seq Scan`"), "{found:?}");
    }

    #[test]
    fn a_plan_that_changed_within_a_step_is_a_warning() {
        let found = with(|_| ("Seq Scan", "Index Scan"));
        assert!(found.iter().all(|(severity, _)| *severity == Severity::Warning), "{found:?}");
        assert!(found[0].1.contains("changed: `Seq Scan` against `Index Scan`"), "{found:?}");
    }
}
