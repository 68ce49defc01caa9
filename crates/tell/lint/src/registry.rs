//! Every rule, and the three moments at which they are asked.

use std::cmp::Reverse;

use model::Waiver;

use crate::context::{ComparisonContext, PlanContext, RunContext};
use crate::found::{Found, Place};
use crate::rule::{A001, A027, A039, Rule, Seen};

/// Every rule, by code.
pub static RULES: &[&Rule] = &[&A001, &A027, &A039];

/// Returns every rule, by code.
#[must_use]
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// Returns the rule of that code, whatever its case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

/// Returns what doubts a plan, before machine time is spent; the gravest first.
#[must_use]
pub fn check_plan(context: &PlanContext<'_>) -> Vec<Found> {
    let ask = |rule: &'static Rule| rule.plan.map(|look| look(context)).unwrap_or_default();
    ordered(all(ask), &context.experiment.waivers)
}

/// Returns what doubts a comparison: its plan, its runs and what they are together; the gravest
/// first.
#[must_use]
pub fn check_comparison(context: &ComparisonContext<'_>) -> Vec<Found> {
    let plan = PlanContext {
        experiment: context.experiment,
        cells: &[],
        host: context.hosts.first().copied(),
    };
    let mut found = check_plan(&plan);
    found.extend(context.comparison.doubts.iter().map(passed_on));
    found.extend(all(|rule| of_runs(rule, context)));
    found.extend(all(|rule| rule.comparison.map(|look| look(context)).unwrap_or_default()));
    ordered(found, &context.experiment.waivers)
}

/// Returns a doubt of the analysis as a finding.
fn passed_on(doubt: &analysis::Doubt) -> Found {
    Found {
        code: "A000",
        name: "doubt",
        severity: doubt.severity,
        seen: doubt.seen.clone(),
        remedy: doubt.remedy.clone(),
        place: Place::default(),
        waived: None,
    }
}

/// Asks one rule about each run that counts.
fn of_runs(rule: &Rule, context: &ComparisonContext<'_>) -> Vec<Seen> {
    let (Some(look), Some(host)) = (rule.run, context.hosts.first().copied()) else {
        return Vec::new();
    };
    let one = |run| look(&RunContext { experiment: context.experiment, host, run });
    context.valid().flat_map(one).collect()
}

fn all(ask: impl Fn(&'static Rule) -> Vec<Seen>) -> Vec<Found> {
    let of_rule = |rule: &'static Rule| {
        ask(rule).into_iter().map(move |seen| Found {
            code: rule.code,
            name: rule.name,
            severity: seen.severity.unwrap_or(rule.severity),
            seen: seen.seen,
            remedy: seen.remedy.unwrap_or_else(|| rule.remedy.to_owned()),
            place: seen.place,
            waived: None,
        })
    };
    RULES.iter().copied().flat_map(of_rule).collect()
}

/// Heeds the waivers and puts the gravest first.
fn ordered(mut found: Vec<Found>, waivers: &[Waiver]) -> Vec<Found> {
    for one in &mut found {
        let waiver = waivers.iter().find(|waiver| waiver.code.eq_ignore_ascii_case(one.code));
        one.waived = waiver.map(|waiver| waiver.reason.clone());
    }
    found.sort_by_key(|one| (Reverse(one.weight()), one.code));
    found
}
