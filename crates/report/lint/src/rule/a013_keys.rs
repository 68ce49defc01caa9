//! A013: the variants were asked for other keys.

use std::collections::{BTreeMap, BTreeSet};

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::ComparisonContext;

/// Runs of one block had different seeds, or steps of one name different keys.
pub(crate) static RULE: Rule = Rule {
    code: "A013",
    name: "other keys",
    severity: Severity::Blocking,
    trigger: "one step has different key distributions, ranges or batches in different runs; a doubt \
              when runs of one repetition have different seeds",
    why: "Another distribution is another question. Another seed is another sample of the same: its \
          luck is in the difference between the variants.",
    remedy: "run all variants in one experiment, which gives the runs of a block the same seed",
    source: "seed 001, \"Benchmark(et)ing RocksDB vs SplinterDB\" (whether both see the same key \
             sequence); reference, analysis, section 7, L13",
    comparison: Some(comparison),
    ..Rule::SILENT
};

/// Distribution, rows of a range, keys of a batch.
type Asked<'a> = (&'a str, u32, u32);

fn comparison(context: &ComparisonContext<'_>) -> Vec<Seen> {
    let mut seeds: BTreeMap<(u32, u32), BTreeSet<u64>> = BTreeMap::new();
    let mut keys: BTreeMap<(u32, &str), BTreeSet<Asked<'_>>> = BTreeMap::new();
    for run in context.valid() {
        seeds.entry((run.cell.clients, run.cell.repetition)).or_default().insert(run.cell.seed);
        for record in &run.steps {
            let step = &record.step;
            let asked = (step.distribution.as_str(), step.range_rows, step.batch_keys);
            keys.entry((record.index, &step.name)).or_default().insert(asked);
        }
    }
    let other = keys.iter().filter(|(_, asked)| asked.len() > 1).map(|((_, name), asked)| {
        let names: BTreeSet<&str> = asked.iter().map(|(distribution, ..)| *distribution).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let evidence = format!("runs differ in the keys, ranges or batches asked for: {names}");
        Seen::new(evidence).step(name).sized("keys", 0.0)
    });
    let mut evidence: Vec<Seen> = other.collect();
    let unlike = seeds.values().filter(|seeds| seeds.len() > 1).count();
    if unlike > 0 {
        let told = format!("runs of {unlike} of {} repetitions have different seeds", seeds.len());
        evidence.push(Seen::new(told).graded(Severity::Warning).sized("seeds", 0.0));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_runs, runs, when};

    #[test]
    fn seeds_that_differ_within_a_repetition_are_told() {
        let (asked, mut runs) = (experiment(&["a", "b"]), runs(&["a", "b"]));
        assert_eq!(in_runs(&RULE, &asked, &runs), []);
        runs[1].cell.seed = 99;
        let evidence = "runs of 1 of 3 repetitions have different seeds";
        assert_eq!(in_runs(&RULE, &asked, &runs), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn another_distribution_is_blocking() {
        let told = when(&RULE, |step| step.step.distribution = "zipf:0.99".to_owned());
        let evidence = "readrandom: runs differ in the keys, ranges or batches asked for: uniform, \
                    zipf:0.99";
        assert_eq!(told, [(Severity::Blocking, evidence.to_owned())]);
    }
}
