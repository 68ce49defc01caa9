//! A001: the variants promise different durability.

use std::collections::BTreeSet;

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::PlanContext;

/// Variants of different durability classes are not comparable.
pub(crate) static RULE: Rule = Rule {
    code: "A001",
    name: "durability mismatch",
    severity: Severity::Blocking,
    trigger: "the variants' durability classes differ",
    why: "A variant that may lose acknowledged writes skips work that another does: the difference \
          measured is that of the promises.",
    remedy: "give all variants one durability class, or waive A001 when the class is the question",
    source: "reference, analysis, section 7, L01",
    plan: Some(plan),
    ..Rule::SILENT
};

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let variants = context.experiment.variants.iter();
    let classes: BTreeSet<_> = variants.map(|variant| variant.settings.durability).collect();
    if classes.len() < 2 {
        return Vec::new();
    }
    let names: Vec<_> = classes.iter().map(|class| class.name()).collect();
    vec![Seen::new(format!("durability classes differ: {}", names.join(", ")))]
}
