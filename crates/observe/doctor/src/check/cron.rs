//! A cron daemon with daily jobs.

use model::record::Severity;
use model::units::many;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "cron",
    name: "daily jobs of cron",
    severity: Severity::Note,
    why: "Daily jobs start in the middle of runs that last over night.",
    source: "[systemd.timer 5]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let is_cron = |name: &String| {
        name.parse::<u32>().is_ok()
            && source
                .read(format!("/proc/{name}/comm"))
                .is_some_and(|comm| ["cron", "crond"].contains(&comm.as_str()))
    };
    let processes = source.names("/proc");
    if processes.is_empty() {
        return Outcome::unknown(
            "the processes cannot be read: /proc hides processes of other users (mount /proc \
             without hidepid)",
        );
    }
    let is_job = |name: &String| !name.starts_with('.');
    let jobs: Vec<String> = source.names("/etc/cron.daily").into_iter().filter(is_job).collect();
    if jobs.is_empty() || !processes.iter().any(is_cron) {
        return Outcome::fine("none");
    }
    let evidence = format!("cron runs and has these daily jobs: {}", jobs.join(", "));
    Outcome::finding(many(jobs.len(), "job"), evidence)
        .fix("systemctl stop cron")
        .undo("systemctl start cron")
}
