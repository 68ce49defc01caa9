//! A077: machines that did only some of the runs of a block.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::facts::block;

pub(crate) static RULE: Rule = Rule {
    code: "A077",
    name: "incomplete block",
    trigger: "on a machine of a fleet of at least 2 machines, a block (one repetition of an \
              experiment) lacks valid runs of variants that other blocks of the experiment have",
    why: "On this machine, the difference of these variants rests on fewer blocks. A machine that \
          lacks all runs of a variant does not count in the ratios of the variant.",
    remedy: "find out why the runs are missing (assay list), then complete the block (assay run \
             --resume)",
    source: "our choice: a machine counts with whole blocks",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut wanted: BTreeMap<&str, BTreeSet<(&str, u32)>> = BTreeMap::new();
    let mut blocks: BTreeMap<_, BTreeSet<(&str, u32)>> = BTreeMap::new();
    let mut machines = BTreeSet::new();
    for run in context.valid() {
        let Some(machine) = run.machine.as_ref().map(|one| one.name.as_str()) else { continue };
        let (cell, block) = ((run.cell.variant.as_str(), run.cell.clients), block(run));
        wanted.entry(block.0).or_default().insert(cell);
        blocks.entry((machine, block)).or_default().insert(cell);
        machines.insert(machine);
    }
    if machines.len() < 2 {
        return Vec::new();
    }
    let mut lacking: BTreeMap<&str, (BTreeSet<u32>, BTreeSet<&str>)> = BTreeMap::new();
    for ((machine, (experiment, repetition)), cells) in &blocks {
        let missing = wanted[experiment].difference(cells).map(|(variant, _)| *variant);
        let missing: BTreeSet<&str> = missing.collect();
        if !missing.is_empty() {
            let (repetitions, variants) = lacking.entry(machine).or_default();
            repetitions.insert(*repetition);
            variants.extend(missing);
        }
    }
    let observe = |(machine, (repetitions, variants)): (&str, (BTreeSet<u32>, BTreeSet<&str>))| {
        let repetitions: Vec<String> = repetitions.iter().map(u32::to_string).collect();
        let word = if repetitions.len() == 1 { "block" } else { "blocks" };
        let variants = variants.into_iter().collect::<Vec<_>>().join(", ");
        format!("{machine} lacks runs of {variants} in {word} {}", repetitions.join(", "))
    };
    let found: Vec<String> = lacking.into_iter().map(observe).collect();
    // One observation names every machine.
    (!found.is_empty()).then(|| Observation::new(found.join("; "))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, on_machines, runs};

    #[test]
    fn machines_with_part_of_a_block_are_named() {
        let spec = experiment(&["a", "b"]);
        let mut fleet = on_machines(&["a", "b"], &["n1", "n2", "n2"]);
        assert_eq!(in_runs(&RULE, &spec, &fleet), []);
        fleet.remove(5);
        fleet.remove(2);
        let evidence = "n2 lacks runs of a, b in blocks 2, 3";
        assert_eq!(in_runs(&RULE, &spec, &fleet), [(Severity::Warning, evidence.to_owned())]);
        let mut local = runs(&["a", "b"]);
        local.remove(5);
        assert_eq!(in_runs(&RULE, &spec, &local), []);
    }
}
