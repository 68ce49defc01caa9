//! A067: some runs began from a saved load, others loaded for themselves.

use std::collections::BTreeSet;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A067",
    name: "restored and fresh loads",
    trigger: "runs that began from a saved load are compared with runs that loaded their data",
    why: "A load that was closed, copied and opened again differs from a fresh load in some \
          engines: SQLite reads the size of its file in each read transaction, and pages and files \
          lie in other places. A measured difference may then come from the loads and not from the \
          variants.",
    remedy: "run all variants with the same --load",
    source: "our own measurement, docs/method/shared-loads.md: SQLite reads 12 to 20 % slower",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let of = |is_restored: bool| -> BTreeSet<&str> {
        let runs = context.runs.iter().filter(|run| run.load.is_some() == is_restored);
        runs.map(|run| run.cell.variant.as_str()).collect()
    };
    let (restored, fresh) = (of(true), of(false));
    if restored.is_empty() || fresh.is_empty() {
        return Vec::new();
    }
    let list = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let evidence = format!(
        "runs of {} began from a saved load, and runs of {} loaded their data",
        list(restored),
        list(fresh)
    );
    vec![Observation::new(evidence)]
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::{Bytes, Nanos, SharedLoad, Transfer};

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn only_a_mixture_is_reported() {
        let names = ["a", "b"];
        let found = |restored: &[&str]| {
            let mut runs = runs(&names);
            for run in runs.iter_mut().filter(|run| restored.contains(&run.cell.variant.as_str())) {
                run.load = Some(Box::new(SharedLoad {
                    snapshot: "x".to_owned(),
                    made_by: "an-experiment/a.c1.r1".to_owned(),
                    steps: 1,
                    transfer: Transfer::Copy,
                    bytes: Bytes(1),
                    took_ns: Nanos(1),
                }));
            }
            in_runs(&RULE, &experiment(&names), &runs)
        };
        assert!(found(&[]).is_empty() && found(&names).is_empty());
        let evidence = "runs of b began from a saved load, and runs of a loaded their data";
        assert_eq!(found(&["b"]), [(Severity::Warning, evidence.to_owned())]);
    }
}
