//! A055: servers queried through different protocols.

use model::Variant;

use super::{Checks, Observation};
use crate::context::PlanContext;
use crate::difference::{Check, Config, observe};
use crate::facts::is_server;
use crate::registry::code;

pub(crate) static RULE: Checks = Checks { code: code::A055, plan: Some(plan), ..Checks::EMPTY };

/// The option that chooses the protocol.
const OPTION: &str = "assay.protocol";
/// The protocol without that option.
const DEFAULT: &str = "prepared";

/// The protocol must be that of the base.
const CHECK: Check = Check {
    names: &[OPTION],
    evidence: |base, found| {
        let (before, own) = found[0].pair();
        format!("queried by {own}, {base} by {before}")
    },
    ..Check::EMPTY
};
/// Every option, to find whether the protocol is the only difference.
const OPTIONS: Check = Check { counts_unset: true, ..Check::EMPTY };

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let variants = &context.experiment.variants;
    let Some(base) = context.experiment.variant(&context.experiment.base) else { return vec![] };
    let servers = variants.iter().filter(|one| is_server(one) && is_server(base));
    let unlike = |one: &Variant| {
        let configs = [config(base), config(one)];
        let is_alone = (&one.build, &one.dsn, &one.settings)
            == (&base.build, &base.dsn, &base.settings)
            && OPTIONS.differences(&configs).len() < 2;
        let found = if is_alone { Vec::new() } else { observe(&[CHECK], &base.name, &configs) };
        found.into_iter().map(|found| found.variant(&one.name)).collect::<Vec<_>>()
    };
    servers.flat_map(unlike).collect()
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
        let evidence = "b: queried by text, a by prepared";
        assert_eq!(with(releases, "text"), [(Severity::Warning, evidence.to_owned())]);
    }
}
