//! Limits of pages not yet written.

use model::Bytes;
use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "dirty_pages",
    name: "vm.dirty_* limits",
    severity: Severity::Note,
    why: "The kernel may hold back writes. Such writes reach the drive later, in a burst, perhaps \
          during the next step.",
    source: "[Linux sysctl-vm]",
    ..Check::of(Probe::in_manifests(run))
};

/// Limit from which a burst is longer than seconds on an SSD. Our choice.
const LARGE: Bytes = Bytes(4 * Bytes::GIB.0);

fn run(source: &Source) -> Outcome {
    let vm = |name: &str| source.number(format!("/proc/sys/vm/{name}"));
    let memory = source.read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.to_owned();
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    });
    let (Some(ratio), Some(memory)) = (vm("dirty_ratio"), memory) else {
        return Outcome::unknown("the kernel does not report its limits on dirty pages");
    };
    let set = vm("dirty_bytes").filter(|bytes| *bytes > 0);
    let limit = Bytes(set.unwrap_or(memory * 1024 / 100 * ratio));
    let text = |bytes: Option<u64>, ratio: u64| match bytes.filter(|bytes| *bytes > 0) {
        Some(bytes) => Bytes(bytes).to_string(),
        None => format!("{ratio} %"),
    };
    let background = |ratio| text(vm("dirty_background_bytes"), ratio);
    let background = vm("dirty_background_ratio").map(background);
    let background = background.map(|text| format!(", in the background {text}"));
    let value = text(set, ratio) + &background.unwrap_or_default();
    if limit <= LARGE {
        return Outcome::fine(value);
    }
    let (background, most) = (LARGE.0 / 4, LARGE.0);
    let found = Outcome::finding(value, format!("{limit} of unwritten data may wait in memory"))
        .fix(format!("sysctl -w vm.dirty_background_bytes={background} vm.dirty_bytes={most}"));
    // The kernel sets a ratio to 0 where bytes are given, and the other way round.
    let old = |name: &str| {
        let bytes = vm(&format!("{name}_bytes")).filter(|bytes| *bytes > 0);
        let ratio = || format!("vm.{name}_ratio={}", vm(&format!("{name}_ratio")).unwrap_or(10));
        bytes.map_or_else(ratio, |bytes| format!("vm.{name}_bytes={bytes}"))
    };
    found.undo(format!("sysctl -w {} {}", old("dirty_background"), old("dirty")))
}
