//! Whether systemd removes shared memory at logout.

use model::record::Severity;

use super::Check;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    name: "remove_ipc",
    subject: "RemoveIPC of systemd-logind",
    severity: Severity::Warning,
    why: "At the end of a session it removes files in /dev/shm that servers of that user need: they fail.",
    source: "[Callaghan 2022-10-24]",
    is_in_snapshot: true,
    run,
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
    Outcome::finding("yes", "shared memory of a regular user is removed when its last session ends")
        .mend(format!("mkdir -p {dir}"))
        .mend(format!("printf '[Login]\\nRemoveIPC=no\\n' > {file}"))
        .mend("systemctl restart systemd-logind")
        .undo(format!("rm {file}"))
        .undo("systemctl restart systemd-logind")
}
