//! The program that takes CPU profiles, and the right of this account to sample.

use model::record::Severity;

use super::capabilities::account;
use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "perf",
    name: "perf, for CPU profiles",
    severity: Severity::Note,
    why: "With --profile, Assay samples CPU profiles with perf, which the kernel may refuse to an \
          ordinary account. Experiments without profiles do not need perf.",
    source: "[perf_event_open 2]",
    ..Check::of(Probe::live(run))
};

/// Setting of the kernel that limits what an ordinary account may sample.
const PARANOID: &str = "kernel.perf_event_paranoid";
/// Highest value with which an account may sample the user code of its own processes.
///
/// Source: [perf_event_open 2]; Debian and Ubuntu add the values 3 and 4, which refuse all.
const USER_MAX: i64 = 2;
/// Highest value with which it may sample these processes in the kernel, too.
const KERNEL_MAX: i64 = 1;
/// Bits of the capabilities of which one permits all sampling: CAP_SYS_ADMIN and CAP_PERFMON.
///
/// Source: linux/capability.h.
const CAPABILITIES: u64 = 1 << 21 | 1 << 38;

fn run(source: &Source) -> Outcome {
    let version = match source.output("perf", &["--version"]) {
        Ok(version) => version.trim().to_owned(),
        // What starts programs may lack, too.
        Err(reason) if !reason.starts_with("perf ") => return Outcome::unknown(reason),
        Err(reason) => {
            return Outcome::finding("does not run", reason)
                .fix("apt-get install linux-perf # on other distributions: perf or linux-tools");
        }
    };
    let setting = source.read("/proc/sys/kernel/perf_event_paranoid");
    let Some(paranoid) = setting.and_then(|text| text.parse::<i64>().ok()) else {
        return Outcome::unknown(format!("the kernel does not report {PARANOID}"));
    };
    let is_capable = account(source).is_some_and(|(_, bits)| bits & CAPABILITIES != 0);
    if is_capable || paranoid <= KERNEL_MAX {
        Outcome::fine(version)
    } else if paranoid <= USER_MAX {
        Outcome::fine(format!("{version}; user code only"))
    } else {
        let setting = format!("{PARANOID}={paranoid}");
        let evidence = format!("{setting}: the kernel refuses CPU profiles to this account");
        Outcome::finding(setting, evidence).sysctl(PARANOID, "1", &paranoid.to_string())
    }
}
