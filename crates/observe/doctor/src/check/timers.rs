//! Timers of systemd that start work.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "timers",
    name: "timers of systemd",
    severity: Severity::Note,
    why: "Package updates and file indexing start by themselves, read the disk and use a CPU.",
    source: "[systemd.timer 5]",
    ..Check::of(Probe::live(run))
};

/// Timers of Debian, Ubuntu and Fedora whose work reads much or uses a CPU for long.
const HEAVY: &[&str] = &[
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "btrfs-scrub.timer",
    "dnf-makecache.timer",
    "e2scrub_all.timer",
    "fstrim.timer",
    "fwupd-refresh.timer",
    "man-db.timer",
    "mdcheck_start.timer",
    "mlocate-updatedb.timer",
    "plocate-updatedb.timer",
    "updatedb.timer",
];

fn run(source: &Source) -> Outcome {
    if !source.has_systemd() {
        return Outcome::absent("systemd does not run here");
    }
    let args = ["list-units", "--type=timer", "--state=active", "--no-legend", "--plain"];
    let text = match source.output("systemctl", &args) {
        Ok(text) => text,
        Err(reason) => return Outcome::unknown(reason),
    };
    let units = text.lines().filter_map(|line| line.split_ascii_whitespace().next());
    let heavy: Vec<&str> = units.filter(|unit| HEAVY.contains(unit)).collect();
    if heavy.is_empty() {
        return Outcome::fine("no active timer starts heavy work");
    }
    let listed = heavy.join(" ");
    Outcome::finding(listed.clone(), format!("these timers will start work during runs: {listed}"))
        .fix(format!("systemctl stop {listed}"))
        .undo(format!("systemctl start {listed}"))
}
