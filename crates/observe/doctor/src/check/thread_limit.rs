//! Limits on the threads of the control group and of the account.

use model::record::Severity;

use super::memory_limit::groups;
use super::open_files::{limit_of, raise};
use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "thread_limit",
    name: "limit on threads",
    severity: Severity::Warning,
    why: "Clients, servers and background work of engines are threads or processes. An engine that \
          cannot create its threads or processes fails, or works with fewer of them.",
    source: "[Linux cgroup-v2]",
    ..Check::of(Probe::live(run))
};

/// Threads that are enough: 64 clients, as many processes of a server, and background work.
///
/// Our choice.
const ENOUGH: u64 = 256;

fn run(source: &Source) -> Outcome {
    if let Some(limit) = of_account(source).filter(|limit| *limit < ENOUGH) {
        let evidence = format!("`ulimit -u` allows this account {limit} threads in all");
        return Outcome::finding(limit.to_string(), evidence)
            .fix(raise("-u 4096", "u=4096"))
            .undo(format!("# in that shell: ulimit -S -u {limit}"));
    }
    let number = |path: String| source.read(path)?.trim().parse::<u64>().ok();
    // A group without a limit has `max`, which is no number.
    let free = |dir: &String| {
        let limit = number(format!("{dir}/pids.max"))?;
        Some((limit.saturating_sub(number(format!("{dir}/pids.current"))?), limit, dir.clone()))
    };
    let groups = match groups(source, "pids") {
        Ok(groups) => groups,
        Err(unknown) => return unknown,
    };
    match groups.iter().filter_map(free).min() {
        Some((free, limit, dir)) if free < ENOUGH => {
            let path = format!("{dir}/pids.max");
            Outcome::finding(limit.to_string(), format!("{path} allows {free} more threads")).write(
                &path,
                "max",
                &limit.to_string(),
            )
        }
        Some((_, limit, _)) => Outcome::fine(limit.to_string()),
        None => Outcome::fine("none"),
    }
}

/// Returns the limit on the threads of this account; `None` for one that is exempt.
fn of_account(source: &Source) -> Option<u64> {
    let limit = limit_of(source, "Max processes")?.parse().ok()?;
    let status = source.read("/proc/self/status")?;
    let uid_map = source.read("/proc/self/uid_map").unwrap_or_default();
    (!sampler::has_no_thread_limit(&status, &uid_map)).then_some(limit)
}
