//! A055: servers were asked through different protocols.

use std::collections::BTreeSet;

use model::Variant;

use super::{Rule, Seen};
use crate::context::PlanContext;
use crate::look::is_server;

/// Variants speak to their servers in different ways, and differ in something else too.
pub(crate) static RULE: Rule = Rule {
    code: "A055",
    name: "protocols differ",
    trigger: "variants that are servers differ in `assay.protocol` (prepared statements or text), \
              and that is not the only thing they differ in",
    why: "Parsing and planning are a large part of a short query: prepared statements were worth \
          1.25 times the queries in the seeds, more than most releases.",
    remedy: "give all variants the same `assay.protocol`, or compare the protocols with one build",
    source: "seed 002, \"The insert benchmark on ARM and x86 cloud servers\" (prepared statements); \
             reference, servers, section 2",
    plan: Some(plan),
    ..Rule::SILENT
};

/// The option that chooses it.
const OPTION: &str = "assay.protocol";
/// What is spoken where nobody chose.
const DEFAULT: &str = "prepared";

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let variants = &context.experiment.variants;
    let Some(base) = context.experiment.variant(&context.experiment.base) else { return vec![] };
    let differs = |one: &&Variant| {
        is_server(one) && is_server(base) && protocol(one) != protocol(base) && !is_alone(one, base)
    };
    let tell = |one: &Variant| {
        let evidence = format!("asked by {}, {} by {}", protocol(one), base.name, protocol(base));
        Seen::new(evidence).variant(&one.name)
    };
    variants.iter().filter(differs).map(tell).collect()
}

fn protocol(variant: &Variant) -> &str {
    variant.options.get(OPTION).unwrap_or(DEFAULT)
}

/// Returns whether nothing but the protocol differs.
fn is_alone(one: &Variant, other: &Variant) -> bool {
    let options = |of: &Variant| -> BTreeSet<(String, String)> {
        let own = of.options.iter().filter(|(name, _)| *name != OPTION);
        own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    one.build == other.build
        && one.dsn == other.dsn
        && one.settings == other.settings
        && options(one) == options(other)
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{in_plan, on_builds};

    #[test]
    fn a_protocol_that_differs_beside_the_build_is_told_and_alone_it_is_the_question() {
        let with = |builds: [&str; 2], protocol: &str| {
            let mut asked = on_builds(&[("a", builds[0]), ("b", builds[1])]);
            asked.variants[1].options.set(OPTION, protocol);
            in_plan(&RULE, &asked)
        };
        let releases = ["mysql@5.6.24", "mysql@8.0.31"];
        assert_eq!(with(releases, "prepared"), []);
        assert_eq!(with(["mysql@8.0.31", "mysql@8.0.31"], "text"), []);
        let evidence = "b: asked by text, a by prepared";
        assert_eq!(with(releases, "text"), [(Severity::Warning, evidence.to_owned())]);
    }
}
