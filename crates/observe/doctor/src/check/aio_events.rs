//! Events of the kernel's asynchronous I/O.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "aio_events",
    name: "free events of asynchronous I/O",
    severity: Severity::Warning,
    why: "InnoDB reserves events when it starts, and a server that gets no events does not start. \
          All processes of a host, in all containers, share one limit.",
    source: "[Linux sysctl-fs]",
    ..Check::of(Probe::live(run))
};

/// Events that are enough: those of a server and its standby with the default threads.
const ENOUGH: u64 = 2 * 2561;

fn run(source: &Source) -> Outcome {
    let Some(quota) = sampler::aio_events(|path| source.read(path)) else {
        return Outcome::unknown("the kernel does not report its events of asynchronous I/O");
    };
    let (limit, free) = (quota.limit.to_string(), quota.free());
    if free >= ENOUGH {
        return Outcome::fine(limit);
    }
    let wanted = (quota.used + ENOUGH).to_string();
    let evidence = format!("fs.aio-max-nr is {limit}, and {free} are free");
    Outcome::finding(limit.clone(), evidence).sysctl("fs.aio-max-nr", &wanted, &limit)
}
