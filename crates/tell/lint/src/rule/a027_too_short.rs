//! A027: a step that ends before it has shown what it was to show.

use model::record::Severity;
use model::{Load, Step, StopRule};

use super::{Rule, Seen};
use crate::context::PlanContext;
use crate::found::Place;

/// A step is too short for what is asked of it.
pub(crate) static RULE: Rule = Rule {
    code: "A027",
    name: "too short",
    severity: Severity::Doubt,
    trigger: "a step measures less than its rate takes to change",
    why: "What was never offered was never answered: the end of the rate's course is not in the \
          figures.",
    remedy: "measure for longer, or let the rate change faster",
    source: "reference, analysis, section 7, L27",
    plan: Some(plan),
    run: None,
    comparison: None,
};

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    context.experiment.steps.iter().filter_map(unfinished_rate).collect()
}

fn unfinished_rate(step: &Step) -> Option<Seen> {
    let (Load::Open(open), StopRule::Duration(span)) = (&step.load, step.stop) else { return None };
    let needed = open.rate.changes_for();
    let place = Place { steps: vec![step.name.clone()], ..Place::default() };
    (span < needed).then(|| Seen {
        place,
        ..Seen::new(format!("{} measures {span} of a rate that changes for {needed}", step.name))
    })
}
