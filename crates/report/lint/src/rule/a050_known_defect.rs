//! A050: a build with a defect that is known.

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::RunContext;

/// The driver knows of a defect of this build.
pub(crate) static RULE: Rule = Rule {
    code: "A050",
    name: "known defect",
    severity: Severity::Warning,
    trigger: "the driver tells a defect of the build that changes what is measured",
    why: "The defect, and not the design, may be what is seen.",
    remedy: "take a release in which it is mended, or read the result as that of the defect",
    source: "seed 001, \"Benchmark(et)ing RocksDB vs SplinterDB\" (a leak that was reported and \
             fixed, disk full errors of issue 10533)",
    run: Some(run),
    ..Rule::SILENT
};

/// The fact in which a driver tells it.
const FACT: &str = "known_defect";

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let identity = context.run.identity.as_ref();
    let defect = identity.and_then(|identity| identity.facts.get(FACT));
    defect.map(Seen::new).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use model::Identity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn a_defect_that_the_driver_knows_is_told() {
        let (asked, mut runs) = (experiment(&["a"]), runs(&["a"]));
        assert_eq!(in_runs(&RULE, &asked, &runs), []);
        for run in &mut runs {
            let facts = [(FACT.to_owned(), "iterators leak".to_owned())].into();
            run.identity = Some(Identity { facts, ..Identity::default() });
        }
        let evidence = "a: iterators leak (3 runs)";
        assert_eq!(in_runs(&RULE, &asked, &runs), [(Severity::Warning, evidence.to_owned())]);
    }
}
