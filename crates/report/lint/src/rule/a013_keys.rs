//! A013: key sequences differ between variants.

use std::collections::{BTreeMap, BTreeSet};

use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A013",
    name: "other keys",
    severity: Severity::Blocking,
    trigger: "Blocking: a step has different key distributions, ranges or batches in different \
              runs. Warning: runs of one repetition have different seeds",
    why: "A step with another key distribution is another workload. A step with another seed is \
          another random sample of the same workload, and the random difference between two \
          samples becomes part of the difference between the variants.",
    remedy: "run all variants in one experiment, which gives the runs of a block the same seed",
    source: "[Callaghan 2022-12-02] (the question whether both engines get the same key sequence)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// Distribution, rows of a range, keys of a batch.
type KeySpec<'a> = (&'a str, u32, u32);

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut seeds: BTreeMap<(u32, u32), BTreeSet<u64>> = BTreeMap::new();
    let mut keys: BTreeMap<(u32, &str), BTreeSet<KeySpec<'_>>> = BTreeMap::new();
    for run in context.valid() {
        seeds.entry((run.cell.clients, run.cell.repetition)).or_default().insert(run.cell.seed);
        for record in &run.steps {
            let step = &record.step;
            let spec = (step.distribution.as_str(), step.range_rows, step.batch_keys);
            keys.entry((record.index, &step.name)).or_default().insert(spec);
        }
    }
    let other = keys.iter().filter(|(_, spec)| spec.len() > 1).map(|((_, name), spec)| {
        let names: BTreeSet<&str> = spec.iter().map(|(distribution, ..)| *distribution).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let evidence =
            format!("the requested keys, ranges or batches differ between runs: {names}");
        Observation::new(evidence).step(name).ranked("keys", 0.0)
    });
    let mut evidence: Vec<Observation> = other.collect();
    let unlike = seeds.values().filter(|seeds| seeds.len() > 1).count();
    if unlike > 0 {
        let found =
            format!("in {unlike} of {} repetitions, runs have different seeds", seeds.len());
        evidence.push(Observation::new(found).severity(Severity::Warning).ranked("seeds", 0.0));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_runs, runs, when};

    #[test]
    fn seeds_that_differ_within_a_repetition_are_reported() {
        let (spec, mut runs) = (experiment(&["a", "b"]), runs(&["a", "b"]));
        assert_eq!(in_runs(&RULE, &spec, &runs), []);
        runs[1].cell.seed = 99;
        let evidence = "in 1 of 3 repetitions, runs have different seeds";
        assert_eq!(in_runs(&RULE, &spec, &runs), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn another_distribution_is_blocking() {
        let found = when(&RULE, |step| step.step.distribution = "zipf:0.99".to_owned());
        let evidence = "readrandom: the requested keys, ranges or batches differ between runs: \
                        uniform, zipf:0.99";
        assert_eq!(found, [(Severity::Blocking, evidence.to_owned())]);
    }
}
