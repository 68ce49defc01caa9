//! Whether systemd removes shared memory at logout.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "remove_ipc",
    name: "RemoveIPC of systemd-logind",
    severity: Severity::Warning,
    why: "When a session ends, systemd-logind removes files in /dev/shm that servers of this user \
          need. The servers then fail.",
    source: "[Callaghan 2022-10-24]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    if !source.has_systemd() {
        return Outcome::absent("systemd does not run here");
    }
    let main = source.read("/etc/systemd/logind.conf");
    let dir = "/etc/systemd/logind.conf.d";
    let more =
        source.names(dir).into_iter().filter_map(|name| source.read(format!("{dir}/{name}")));
    let all: Vec<String> = main.into_iter().chain(more).collect();
    let set = all.iter().flat_map(|text| text.lines());
    let last = set.filter_map(|line| line.trim().strip_prefix("RemoveIPC=")).next_back();
    // The default is yes. Source: [logind.conf 5].
    let is_off = last.is_some_and(|value| ["no", "false", "off", "0"].contains(&value.trim()));
    if is_off {
        return Outcome::fine("no");
    }
    let file = format!("{dir}/zz-assay.conf");
    Outcome::finding(
        "yes",
        "systemd-logind removes the shared memory of a regular user when the \
                             last session of the user ends",
    )
    .fix(format!("mkdir -p {dir}"))
    .fix(format!("printf '[Login]\\nRemoveIPC=no\\n' > {file}"))
    .fix("systemctl restart systemd-logind")
    .undo(format!("rm {file}"))
    .undo("systemctl restart systemd-logind")
}
