//! The limit of locked memory, against which old kernels count rings of `io_uring`.

use model::Bytes;
use model::record::Severity;

use super::capabilities::account;
use super::open_files::{limit_of, raise};
use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "locked_memory",
    name: "limit of locked memory",
    severity: Severity::Note,
    why: "Kernels before Linux 5.12 count the rings of io_uring as locked memory. If the limit is \
          too low, MariaDB silently uses another method to read and write.",
    source: "[getrlimit 2]",
    ..Check::of(Probe::live(run))
};

/// Locked memory that is enough. Source: MariaDB's unit of systemd, `LimitMEMLOCK`.
const ENOUGH: u64 = 512 << 10;
/// First release whose kernel does not count rings as locked memory.
///
/// Source: Linux 5.12, "io_uring: use cgroup memory accounting".
const UNCOUNTED: [u32; 2] = [5, 12];
/// Bit of the capability that lifts the limit. Source: linux/capability.h, `CAP_IPC_LOCK`.
const LIFTS: u64 = 1 << 14;

fn run(source: &Source) -> Outcome {
    let Some(limit) = limit_of(source, "Max locked memory") else {
        return Outcome::unknown("the limit cannot be read: /proc/self/limits does not show it");
    };
    // "unlimited" is not a number.
    let Some(bytes) = limit.parse().ok().filter(|bytes| *bytes < ENOUGH) else {
        return Outcome::fine(limit);
    };
    let release = source.read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let numbers: Vec<u32> = release.split('.').map_while(|part| part.parse().ok()).collect();
    let is_lifted = account(source).is_some_and(|(_, bits)| bits & LIFTS != 0);
    let size = Bytes(bytes).to_string();
    if is_lifted || numbers.as_slice() >= &UNCOUNTED[..] {
        return Outcome::fine(size);
    }
    Outcome::finding(
        size.clone(),
        format!("a process may lock {size}, and io_uring counts as locked memory"),
    )
    .fix(raise(&format!("-l {}", ENOUGH >> 10), &format!("l={ENOUGH}")))
    .undo(format!("# in that shell: ulimit -S -l {}", bytes >> 10))
}
