//! Memory caps of the control group.

use std::path::Path;

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "memory_limit",
    name: "memory cap",
    severity: Severity::Note,
    why: "A memory cap includes the page cache. A container with less memory than the machine \
          caches less.",
    source: "[Linux cgroup-v2]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let cap = |dir: &String| sampler::memory_limit(|file| source.read(format!("{dir}/{file}")));
    let groups = groups(source, "memory");
    match groups.iter().filter_map(cap).min() {
        _ if groups.is_empty() => Outcome::unknown("the process is not in a control group"),
        None => Outcome::fine("none"),
        Some(bytes) => {
            let size = bytes.to_string();
            let evidence = format!("the control group of this process may use {size}");
            Outcome::finding(size, evidence).fix(
                "# run outside of the container; assay sets a memory cap itself if a plan has one",
            )
        }
    }
}

/// Returns the control groups of this process in version 2, or of a controller in version 1.
pub(super) fn groups(source: &Source, controller: &str) -> Vec<String> {
    let text = source.read("/proc/self/cgroup").unwrap_or_default();
    let of = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let root = match controllers {
            "" => "/sys/fs/cgroup".to_owned(),
            own if own.split(',').any(|one| one == controller) => {
                format!("/sys/fs/cgroup/{controller}")
            }
            _ => return None,
        };
        let parents =
            Path::new(path).ancestors().map(move |path| format!("{root}{}", path.display()));
        Some(parents.collect::<Vec<_>>())
    };
    let groups = text.lines().filter_map(of).flatten();
    groups.map(|dir| dir.trim_end_matches('/').to_owned()).collect()
}
