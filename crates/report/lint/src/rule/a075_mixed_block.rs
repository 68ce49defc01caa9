//! A075: a block with runs of several machines.

use std::collections::{BTreeMap, BTreeSet};

use model::record::Severity;
use model::{Host, RunRecord};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::facts::block;

pub(crate) static RULE: Rule = Rule {
    code: "A075",
    name: "block on several machines",
    severity: Severity::Blocking,
    trigger: "valid runs of one block (one repetition of an experiment) were done on several \
              machines of a fleet, or on a machine whose fingerprint changed within the block",
    why: "The variants of a block are compared with each other. On different machines, the \
          difference of the machines is part of the difference of the variants.",
    remedy: "remove the records of the block and run it again on one machine (assay run --resume)",
    source: "[Box 2005] (blocks hold conditions constant); [Callaghan 2023-01-23] (servers that \
             were meant to be identical were not identical)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut blocks: BTreeMap<_, Vec<&RunRecord>> = BTreeMap::new();
    for run in context.valid().filter(|run| run.machine.is_some()) {
        blocks.entry(block(run)).or_default().push(run);
    }
    let observe = |((_, repetition), runs): (&(&str, u32), &Vec<&RunRecord>)| {
        let machines = || runs.iter().filter_map(|run| run.machine.as_ref());
        let names: BTreeSet<&str> = machines().map(|one| one.name.as_str()).collect();
        let hosts: Vec<&Host> = machines().map(|one| &one.host).collect();
        let is_changed = hosts.iter().any(|host| !host.is_same_machine(hosts[0]));
        let names: Vec<&str> = names.into_iter().collect();
        let evidence = match names[..] {
            [only] if is_changed => {
                format!("the fingerprint of {only} changed within block {repetition}")
            }
            [_, _, ..] => format!("block {repetition} was run on {}", names.join(" and ")),
            _ => return None,
        };
        let observation = Observation::new(evidence);
        Some(runs.iter().fold(observation, |one, run| one.run(&run.id)))
    };
    blocks.iter().filter_map(observe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_runs, on_machines};

    #[test]
    fn block_of_two_machines_is_blocking() {
        let spec = experiment(&["a", "b"]);
        let runs = on_machines(&["a", "b"], &["n1", "n2", "n1"]);
        assert_eq!(in_runs(&RULE, &spec, &runs), []);
        let mut mixed = runs.clone();
        mixed[0].machine.clone_from(&runs[2].machine);
        let evidence = "block 1 was run on n1 and n2 (2 runs)";
        assert_eq!(in_runs(&RULE, &spec, &mixed), [(Severity::Blocking, evidence.to_owned())]);
        let mut changed = runs;
        changed[0].machine.as_mut().unwrap().host.fingerprint = "other".to_owned();
        let evidence = "the fingerprint of n1 changed within block 1 (2 runs)";
        assert_eq!(in_runs(&RULE, &spec, &changed), [(Severity::Blocking, evidence.to_owned())]);
    }
}
