//! A050: a build with a defect that is known.

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A050",
    name: "known defect",
    trigger: "the driver reports a defect of the build that changes what is measured",
    why: "The result may measure the defect of the build and not the design of the engine.",
    remedy: "use a release that fixes the defect, or read the result as a measurement of the \
             defect",
    source: "[Callaghan 2022-12-02] (a leak that was reported and fixed, disk full errors of issue \
             10533)",
    ..Rule::of(Checks { run: Some(run), ..Checks::NONE })
};

/// The fact in which a driver reports it.
const FACT: &str = "known_defect";

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let identity = context.run.identity.as_ref();
    let defect = identity.and_then(|identity| identity.facts.get(FACT));
    defect.map(Observation::new).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use model::Identity;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn a_defect_that_the_driver_knows_is_reported() {
        let (spec, mut runs) = (experiment(&["a"]), runs(&["a"]));
        assert_eq!(in_runs(&RULE, &spec, &runs), []);
        for run in &mut runs {
            let facts = [(FACT.to_owned(), "iterators leak".to_owned())].into();
            run.identity = Some(Identity { facts, ..Identity::default() });
        }
        let evidence = "a: iterators leak (3 runs)";
        assert_eq!(in_runs(&RULE, &spec, &runs), [(Severity::Warning, evidence.to_owned())]);
    }
}
