//! NUMA nodes.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "numa",
    name: "NUMA nodes",
    severity: Severity::Note,
    why: "Access to memory of another node takes longer, and the placement of memory differs from \
          run to run.",
    source: "[Linux numa]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let is_node = |name: &String| {
        name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let nodes = source.names("/sys/devices/system/node").iter().filter(|it| is_node(it)).count();
    match nodes {
        0 => Outcome::unknown("the kernel reports no nodes"),
        1 => Outcome::fine("1"),
        _ => Outcome::finding(nodes.to_string(), format!("the machine has {nodes} NUMA nodes"))
            .fix(
                "# bind all runs in the same way: numactl --cpunodebind=0 --membind=0 assay run \
                   ...",
            ),
    }
}
