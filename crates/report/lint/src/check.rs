//! The three moments at which rules are asked: on a plan, on a run, on a comparison.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{Experiment, RunRecord, Waiver};

use crate::context::{ComparisonContext, PlanContext, RunContext};
use crate::found::LintFinding;
use crate::gather::{Told, gathered};
use crate::registry::rules;
use crate::rule::{A011, Rule, Seen};

/// Returns what doubts a plan, before machine time is spent; the gravest first.
#[must_use]
pub fn check_plan(context: &PlanContext<'_>) -> Vec<LintFinding> {
    let ask = |rule: &Rule| rule.plan.map(|look| look(context)).unwrap_or_default();
    ordered(all(Told::All, ask), &context.experiment.waivers)
}

/// Returns what doubts one run, by itself; the gravest first.
///
/// Of a run that is invalid only this is told: what else was seen in it was not the engine's doing.
#[must_use]
pub fn check_run(context: &RunContext<'_>) -> Vec<LintFinding> {
    let ask =
        |rule: &Rule| if is_asked(rule, context.run) { of_run(rule, context) } else { vec![] };
    ordered(all(Told::Steps, ask), &context.experiment.waivers)
}

/// Returns what doubts a comparison: its plan, its runs and what they are together; the gravest
/// first.
#[must_use]
pub fn check_comparison(context: &ComparisonContext<'_>) -> Vec<LintFinding> {
    let plan = PlanContext {
        experiment: context.experiment,
        cells: &[],
        host: context.hosts.first().copied(),
    };
    let ask = |rule: &Rule| {
        let mut evidence = rule.plan.map(|look| look(&plan)).unwrap_or_default();
        evidence.extend(of_runs(rule, context));
        evidence.extend(rule.comparison.map(|look| look(context)).unwrap_or_default());
        evidence
    };
    ordered(all(Told::All, ask), &context.experiment.waivers)
}

/// Returns whether a rule is asked about a run.
fn is_asked(rule: &Rule, run: &RunRecord) -> bool {
    run.invalid.is_none() || rule.code == A011.code
}

/// Asks one rule about each run, with the place of what it saw.
fn of_runs<'a>(rule: &Rule, context: &ComparisonContext<'a>) -> Vec<Seen> {
    let Some(host) = context.hosts.first().copied() else { return Vec::new() };
    let experiment: &Experiment = context.experiment;
    let runs = context.runs.iter().filter(|run| is_asked(rule, run));
    let cell = |run: &'a RunRecord| (run.cell.variant.as_str(), run.cell.clients);
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for run in context.valid() {
        *counts.entry(cell(run)).or_default() += 1;
    }
    let one = |run: &'a RunRecord| {
        let peers = counts.get(&cell(run)).copied().unwrap_or_default();
        let evidence = of_run(rule, &RunContext { experiment, host, run, peers });
        evidence.into_iter().map(|one| one.variant(&run.cell.variant).run(&run.id))
    };
    runs.flat_map(one).collect()
}

/// Returns what a rule sees in a run, and what the runner recorded under its code.
fn of_run(rule: &Rule, context: &RunContext<'_>) -> Vec<Seen> {
    let mut evidence = rule.run.map(|look| look(context)).unwrap_or_default();
    let is_recorded = context.run.invalid.is_none() && rule.is_recorded;
    for step in context.run.steps.iter().filter(|_| is_recorded) {
        let own = step.findings.iter().filter(|finding| finding.code == rule.code);
        evidence.extend(own.map(|finding| {
            let told = Seen::new(&finding.evidence).step(&step.step.name);
            told.graded(finding.severity).remedied(&finding.remedy).sized("recorded", 0.0)
        }));
    }
    evidence
}

fn all(told: Told, ask: impl Fn(&Rule) -> Vec<Seen>) -> Vec<LintFinding> {
    rules().iter().copied().flat_map(|rule| gathered(rule, ask(rule), told)).collect()
}

/// Heeds the waivers and puts the gravest first.
fn ordered(mut found: Vec<LintFinding>, waivers: &[Waiver]) -> Vec<LintFinding> {
    for one in &mut found {
        let waiver = waivers.iter().find(|waiver| waiver.code.eq_ignore_ascii_case(one.code));
        one.waived = waiver.map(|waiver| waiver.reason.clone());
    }
    found.sort_by_key(|one| (Reverse(one.weight()), one.code));
    found
}
