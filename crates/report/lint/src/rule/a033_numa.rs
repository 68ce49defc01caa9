//! A033: memory is nearer to some CPUs than to others.

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;
use model::record::Severity;

pub(crate) static RULE: Rule = Rule {
    code: "A033",
    name: "NUMA",
    severity: Severity::Note,
    trigger: "the machine has more than one NUMA node; records do not show whether runs were bound \
              to one node",
    why: "Chance decides where the kernel puts a run's threads and its cache. Memory of another \
          node is slower, and the placement differs from run to run.",
    remedy: "bind all runs in the same way: put numactl --cpunodebind=0 --membind=0 before assay \
             run",
    source: "Linux, Documentation/admin-guide/mm/numa_memory_policy.rst",
    ..Rule::of(Checks { plan: Some(plan), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let nodes = context.host.and_then(|host| host.numa_nodes).filter(|nodes| *nodes > 1);
    let observe = |nodes| Observation::new(format!("the machine has {nodes} NUMA nodes"));
    nodes.map(observe).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use model::Host;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, host, on_hosts, runs};

    #[test]
    fn several_nodes_are_a_note() {
        let with = |numa_nodes| {
            let host = Host { numa_nodes, ..host() };
            on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&host])
        };
        assert_eq!(with(None), []);
        assert_eq!(with(Some(1)), []);
        let evidence = "the machine has 2 NUMA nodes";
        assert_eq!(with(Some(2)), [(Severity::Note, evidence.to_owned())]);
    }
}
