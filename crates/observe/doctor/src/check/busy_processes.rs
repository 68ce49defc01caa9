//! Other processes that use a CPU.

use std::collections::BTreeMap;
use std::time::Duration;

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "busy_processes",
    name: "other busy processes",
    severity: Severity::Warning,
    why: "Other busy processes take CPU, cache and I/O away from the measured engine.",
    source: "[Callaghan 2022-08-23]",
    ..Check::of(Probe::live(run))
};

/// How long processes are watched.
const SPAN: Duration = Duration::from_millis(500);
/// Ticks of 10 ms in that span from which a process is busy: a tenth of a CPU. Our choice.
const MANY_TICKS: u64 = 5;

fn run(source: &Source) -> Outcome {
    let before = used_ticks(source);
    source.wait(SPAN);
    let own = std::process::id();
    let used = used_ticks(source).into_iter().filter_map(|(pid, (name, ticks))| {
        let used = ticks.checked_sub(before.get(&pid)?.1)?;
        (pid != own && used >= MANY_TICKS).then_some((used, pid, name))
    });
    let mut busy: Vec<(u64, u32, String)> = used.collect();
    busy.sort_by(|one, other| other.cmp(one));
    if before.is_empty() {
        return Outcome::unknown(
            "the processes cannot be read: /proc hides processes of other users (mount /proc \
             without hidepid)",
        );
    }
    let listed: Vec<String> =
        busy.iter().take(5).map(|(_, pid, name)| format!("{name} ({pid})")).collect();
    if listed.is_empty() {
        return Outcome::fine("none");
    }
    let evidence = format!("processes that used a tenth of a CPU or more: {}", listed.join(", "));
    Outcome::finding(listed.join(", "), evidence).fix(
        "# stop these processes, or wait until they \
                                                        end",
    )
}

/// Returns name and CPU time of each process, in ticks of the kernel.
///
/// Source: [proc 5], `/proc/PID/stat`: utime and stime follow the name as fields 12 and 13.
fn used_ticks(source: &Source) -> BTreeMap<u32, (String, u64)> {
    let one = |pid: u32| {
        let text = source.read(format!("/proc/{pid}/stat"))?;
        let (name, rest) = text.split_once('(')?.1.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some((pid, (name.to_owned(), ticks(11)? + ticks(12)?)))
    };
    let pids = source.names("/proc").into_iter().filter_map(|name| name.parse().ok());
    pids.filter_map(one).collect()
}
