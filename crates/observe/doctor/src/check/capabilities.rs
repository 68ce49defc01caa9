//! Capabilities that root lacks, as in a container.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "capabilities",
    name: "capabilities of root",
    severity: Severity::Note,
    why: "A container removes capabilities of root. Root then cannot start servers under another \
          account, cap memory, or read the kernel log and the health of the drive.",
    source: "[capabilities 7]",
    ..Check::of(Probe::live(run))
};

/// Capabilities with their bits, and what root does with each.
///
/// Source: linux/capability.h.
const USED: [(u32, &str, &str); 9] = [
    (0, "CHOWN", "servers"),
    (1, "DAC_OVERRIDE", "servers, memory caps"),
    (5, "KILL", "servers"),
    (6, "SETGID", "servers"),
    (7, "SETUID", "servers"),
    (17, "SYS_RAWIO", "health of a SATA drive"),
    (21, "SYS_ADMIN", "health of an NVMe drive"),
    (24, "SYS_RESOURCE", "raising hard limits"),
    (34, "SYSLOG", "the kernel log"),
];

fn run(source: &Source) -> Outcome {
    let Some((uid, bits)) = account(source) else {
        return Outcome::unknown("/proc/self/status shows no account and no capabilities");
    };
    if uid != 0 {
        return Outcome::absent("this process is not root");
    }
    let lacking: Vec<_> = USED.iter().filter(|(bit, ..)| bits & (1 << bit) == 0).collect();
    if lacking.is_empty() {
        return Outcome::fine("all");
    }
    let list = |text: &dyn Fn(&str, &str) -> String, separator| {
        let texts: Vec<_> = lacking.iter().map(|(_, name, used)| text(name, used)).collect();
        texts.join(separator)
    };
    let evidence = list(&|name, used| format!("CAP_{name} ({used})"), ", ");
    let options = list(&|name, _| format!("--cap-add {name}"), " ");
    Outcome::finding(list(&|name, _| name.to_owned(), ", "), format!("root lacks {evidence}"))
        .fix(format!("# where the container is started: docker run {options}"))
}

/// Returns the number of the account of this process, and the bits of its capabilities.
pub(super) fn account(source: &Source) -> Option<(u32, u64)> {
    let status = source.read("/proc/self/status")?;
    let value =
        |key| status.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next());
    let bits = u64::from_str_radix(value("CapEff:")?, 16).ok()?;
    Some((value("Uid:")?.parse().ok()?, bits))
}
