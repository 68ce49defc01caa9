//! A055: servers queried through different protocols.

use model::Variant;

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;
use crate::difference::{Config, differences};
use crate::facts::is_server;

pub(crate) static RULE: Rule = Rule {
    code: "A055",
    name: "protocols differ",
    trigger: "variants that are servers differ in `assay.protocol` (prepared statements or text), \
              and also in a build, a setting or another option",
    why: "Parsing and planning are a large part of a short query. Prepared statements raised \
          throughput by a factor of 1.25, and most new releases raise throughput less.",
    remedy: "give all variants the same `assay.protocol`, or compare the protocols with one build",
    source: "[Callaghan 2023-01-23] (prepared statements)",
    ..Rule::of(Checks { variant: Some(unlike), ..Checks::NONE })
};

/// The option that chooses the protocol.
const OPTION: &str = "assay.protocol";
/// The protocol without that option.
const DEFAULT: &str = "prepared";

fn unlike(context: &PlanContext<'_>, one: &Variant) -> Option<Observation> {
    let base = context.experiment.variant(&context.experiment.base)?;
    let configs = [config(base), config(one)];
    let is_alone = (&one.build, &one.dsn, &one.settings)
        == (&base.build, &base.dsn, &base.settings)
        && differences(&[], &configs).len() < 2;
    let found = differences(&[OPTION], &configs);
    let found = found.first().filter(|_| is_server(one) && is_server(base) && !is_alone)?;
    let (before, own) = found.pair();
    Some(Observation::new(format!(
        "the protocol is {own} in this variant and {before} in {}",
        base.name
    )))
}

fn config(variant: &Variant) -> Config<'_> {
    let default = [(OPTION, DEFAULT)].into_iter();
    Config { owner: "", values: default.chain(variant.options.iter()).collect() }
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{in_plan, on_builds};

    #[test]
    fn another_protocol_is_a_warning_unless_it_is_the_only_difference() {
        let with = |builds: [&str; 2], protocol: &str| {
            let mut spec = on_builds(&[("a", builds[0]), ("b", builds[1])]);
            spec.variants[1].options.set(OPTION, protocol);
            in_plan(&RULE, &spec)
        };
        let releases = ["mysql@5.6.24", "mysql@8.0.31"];
        assert_eq!(with(releases, "prepared"), []);
        assert_eq!(with(["mysql@8.0.31", "mysql@8.0.31"], "text"), []);
        let evidence = "b: the protocol is text in this variant and prepared in a";
        assert_eq!(with(releases, "text"), [(Severity::Warning, evidence.to_owned())]);
    }
}
