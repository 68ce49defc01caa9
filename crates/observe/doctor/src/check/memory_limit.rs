//! Memory caps of the control group.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "memory_limit",
    name: "memory cap",
    severity: Severity::Note,
    why: "A memory cap includes the page cache. In a container with less memory than the machine, \
          the page cache holds less.",
    source: "[Linux cgroup-v2]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let cap = |dir: &String| sampler::memory_limit(|file| source.read(format!("{dir}/{file}")));
    let groups = match groups(source, "memory") {
        Ok(groups) => groups,
        Err(unknown) => return unknown,
    };
    match groups.iter().filter_map(cap).min() {
        None => Outcome::fine("none"),
        Some(bytes) => {
            let size = bytes.to_string();
            let evidence = format!("the control group of this process may use {size} of memory");
            Outcome::finding(size, evidence).fix(
                "# run outside of the container; assay sets a memory cap itself if a plan has one",
            )
        }
    }
}

/// Returns the control groups of this process for a controller, or the outcome without them.
pub(super) fn groups(source: &Source, controller: &str) -> Result<Vec<String>, Outcome> {
    let groups = sampler::enclosing_groups(|path| source.read(path), controller);
    let groups = groups.map_err(Outcome::unknown)?;
    if groups.is_empty() {
        return Err(Outcome::unknown("the process is not in a control group"));
    }
    Ok(groups.iter().map(|dir| dir.display().to_string()).collect())
}
