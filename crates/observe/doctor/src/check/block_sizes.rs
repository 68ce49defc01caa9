//! Logical, physical and optimal sizes of requests.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "block_sizes",
    name: "sizes of requests",
    severity: Severity::Note,
    why: "Before a write that is smaller than a physical block, the drive must read the block.",
    source: "[Callaghan 2022-11-18]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let size = |name: &str| source.queue(name).ok().and_then(|(text, _)| text.parse::<u64>().ok());
    let (Some(logical), Some(physical)) = (size("logical_block_size"), size("physical_block_size"))
    else {
        return Outcome::absent(
            source.disk().err().unwrap_or_else(|| "the kernel reports no sizes".to_owned()),
        );
    };
    let (least, best) = (size("minimum_io_size"), size("optimal_io_size"));
    let known = |size: Option<u64>| size.map_or_else(|| "NA".to_owned(), |size| size.to_string());
    let value = format!(
        "logical {logical}, physical {physical}, minimum {}, optimal {}",
        known(least),
        known(best)
    );
    if logical >= physical {
        return Outcome::fine(value);
    }
    let evidence = format!("the drive accepts {logical}-byte writes to {physical}-byte blocks");
    Outcome::finding(value, evidence).fix(
        "# write whole physical blocks; nvme format --lbaf=N sets larger blocks, but erases the \
         drive",
    )
}
