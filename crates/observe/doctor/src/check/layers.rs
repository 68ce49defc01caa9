//! RAID and device mapper below the data.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "layers",
    name: "layers above the drives",
    severity: Severity::Note,
    why: "Each layer splits, copies or encrypts requests, so figures of the file system differ \
          from figures of the drive. An array that is rebuilding competes with the benchmark.",
    source: "[Linux md]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let disk = match source.disk() {
        Ok(disk) => disk,
        Err(reason) => return Outcome::absent(reason),
    };
    let md = |name: &str| std::fs::read_to_string(disk.sys_dir.join("md").join(name)).ok();
    let model = disk.model().unwrap_or_else(|| disk.name.clone());
    let action = md("sync_action").map(|text| text.trim().to_owned());
    let action = action.filter(|action| action != "idle" && action != "frozen");
    let lacks = md("degraded").and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
    let problem = match (lacks, action) {
        (0, None) => None,
        (0, Some(action)) => Some(format!("{} is busy: {action}", disk.name)),
        (lacks, _) => Some(format!("{} lacks {lacks} of its drives", disk.name)),
    };
    if let Some(problem) = problem {
        return Outcome::finding(model, problem)
            .severity(Severity::Blocking)
            .fix("# repair the array and wait until it is idle: cat /proc/mdstat");
    }
    if disk.sys_dir.join("slaves").read_dir().map_or(0, Iterator::count) == 0 {
        return Outcome::fine(format!("none, {model}"));
    }
    let evidence = format!("{} is a {model}", disk.name);
    Outcome::finding(model, evidence)
        .fix("# measure on a file system without layers, or report the layers with the results")
}
