//! Runs the rules on a plan, a run or a comparison.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{Experiment, RunRecord, Variant, Waiver};

use crate::context::{ComparisonContext, PlanContext, RunContext};
use crate::facts::operations;
use crate::finding::LintFinding;
use crate::grouping::{PlaceDetail, group};
use crate::registry::{has_rule, rules};
use crate::rule::{FAILED_CHECK, Observation, Rule, code};

/// Returns the findings of a plan, the most severe first.
pub fn check_plan(context: &PlanContext<'_>) -> Vec<LintFinding> {
    let observe = |rule: &Rule| in_plan(rule, context);
    apply_waivers(findings(PlaceDetail::All, observe), &context.experiment.waivers)
}

/// Returns the findings of one run, the most severe first.
///
/// An invalid run has only that finding: its other observations are not the engine's.
pub fn check_run(context: &RunContext<'_>) -> Vec<LintFinding> {
    let observe =
        |rule: &Rule| if applies(rule, context.run) { in_run(rule, context) } else { vec![] };
    apply_waivers(findings(PlaceDetail::Steps, observe), &context.experiment.waivers)
}

/// Returns the findings of a comparison, its plan and its runs.
///
/// The most severe come first.
pub fn check_comparison(context: &ComparisonContext<'_>) -> Vec<LintFinding> {
    let plan = PlanContext {
        experiment: context.experiment,
        cells: &[],
        host: context.hosts.first().copied(),
        has_rule,
    };
    let observe = |rule: &Rule| {
        let mut observations = in_plan(rule, &plan);
        observations.extend(in_runs(rule, context));
        observations.extend(rule.check.comparison.map(|check| check(context)).unwrap_or_default());
        observations
    };
    apply_waivers(findings(PlaceDetail::All, observe), &context.experiment.waivers)
}

/// Returns the observations of one rule in a plan.
fn in_plan(rule: &Rule, context: &PlanContext<'_>) -> Vec<Observation> {
    let check = |one: &Variant| Some(rule.check.variant?(context, one)?.variant(&one.name));
    let of_variants = context.experiment.variants.iter().filter_map(check);
    let of_plan = rule.check.plan.map(|check| check(context)).unwrap_or_default();
    of_variants.chain(of_plan).collect()
}

/// Returns whether a rule applies to a run.
fn applies(rule: &Rule, run: &RunRecord) -> bool {
    run.is_counted() || [code::A011, FAILED_CHECK.code].contains(&rule.code)
}

/// Returns the observations of one rule in each run, with their places.
fn in_runs<'a>(rule: &Rule, context: &ComparisonContext<'a>) -> Vec<Observation> {
    let Some(host) = context.hosts.first().copied() else { return Vec::new() };
    let experiment: &Experiment = context.experiment;
    let runs = context.runs.iter().filter(|run| applies(rule, run));
    let cell = |run: &'a RunRecord| (run.cell.variant.as_str(), run.cell.clients);
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for run in context.valid() {
        *counts.entry(cell(run)).or_default() += 1;
    }
    let in_one = |run: &'a RunRecord| {
        let peers = counts.get(&cell(run)).copied().unwrap_or_default();
        let host = run.host_or(host);
        let observations = in_run(rule, &RunContext { experiment, host, run, peers, has_rule });
        observations.into_iter().map(|one| one.variant(&run.cell.variant).run(&run.id))
    };
    runs.flat_map(in_one).collect()
}

/// Returns the observations of a rule in a run, and those the runner recorded under its code.
fn in_run(rule: &Rule, context: &RunContext<'_>) -> Vec<Observation> {
    let mut observations = rule.check.run.map(|check| check(context)).unwrap_or_default();
    for step in &context.run.steps {
        let measured = rule.check.measured.iter().filter(|_| operations(step).is_some());
        let found =
            rule.check.steps.iter().chain(measured).filter_map(|check| check(context, step));
        observations.extend(found.map(|one| one.step(&step.step.name)));
    }
    let is_recorded = context.run.is_counted();
    for step in context.run.steps.iter().filter(|_| is_recorded) {
        let own = step.findings.iter().filter(|finding| finding.code == rule.code);
        observations.extend(own.map(|finding| {
            let recorded = Observation::new(&finding.evidence).step(&step.step.name);
            recorded.severity(finding.severity).remedy(&finding.remedy).ranked("recorded", 0.0)
        }));
    }
    observations
}

fn findings(detail: PlaceDetail, observe: impl Fn(&Rule) -> Vec<Observation>) -> Vec<LintFinding> {
    rules().iter().flat_map(|rule| group(rule, observe(rule), detail)).collect()
}

/// Applies the waivers, and sorts by severity.
fn apply_waivers(mut found: Vec<LintFinding>, waivers: &[Waiver]) -> Vec<LintFinding> {
    for one in &mut found {
        let waiver = waivers.iter().find(|waiver| waiver.code.eq_ignore_ascii_case(one.code));
        one.waived = waiver.map(|waiver| waiver.reason.clone());
    }
    found.sort_by_key(|one| (Reverse(one.weight()), one.code));
    found
}
