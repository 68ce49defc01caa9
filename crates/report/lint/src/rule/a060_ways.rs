//! A060: parts of values changed or read in different ways.

use std::collections::BTreeMap;

use model::record::Severity;
use model::{Identity, OpKind};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::difference::{Config, differences};

pub(crate) static RULE: Rule = Rule {
    code: "A060",
    name: "ways differ",
    severity: Severity::Note,
    trigger: "one variant has a native operation to update, read or append to a part of a value, \
              and another variant reads or writes the whole value",
    why: "The ratio compares a native operation of one engine with a read and a write that the \
          client sends to the other engine. The read and the write together are not atomic. Users \
          of the engines get this ratio, but the ratio does not show how fast writes are.",
    remedy: "read the step as a comparison of a native operation with a read and a write, or \
             compare engines that use the same method (assay engine show)",
    source: "[Callaghan 2022-09-28b] (partial updates of large documents)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let builds: BTreeMap<&str, &Identity> = context
        .valid()
        .filter_map(|run| Some((run.cell.variant.as_str(), run.identity.as_ref()?)))
        .collect();
    let configs: Vec<Config<'_>> = builds
        .iter()
        .map(|(owner, build)| {
            let ways = build.facts.iter().map(|(name, way)| (name.as_str(), way.as_str()));
            Config { owner, values: ways.collect() }
        })
        .collect();
    let kinds = [OpKind::PartialUpdate, OpKind::FieldRead, OpKind::Append].map(OpKind::name);
    let found = differences(&kinds, &configs).into_iter();
    found.map(|one| Observation::new(format!("{} is {}", one.name, one.owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn different_ways_are_reported_and_one_way_is_silent() {
        let found = |other: &str| {
            let mut runs = runs(&["a", "b"]);
            for run in &mut runs {
                let way = if run.cell.variant == "a" { "native" } else { other };
                let facts = [("append".to_owned(), way.to_owned())].into();
                run.identity = Some(Identity { facts, ..Identity::default() });
            }
            in_runs(&RULE, &experiment(&["a", "b"]), &runs)
        };
        assert_eq!(found("native"), []);
        let evidence = "append is native (a), read-modify-write (b)".to_owned();
        assert_eq!(found("read-modify-write"), [(Severity::Note, evidence)]);
    }
}
