//! Whether processes may use `io_uring`.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "io_uring",
    name: "io_uring",
    severity: Severity::Note,
    why: "MariaDB uses io_uring. If io_uring is refused, MariaDB silently uses another method to \
          read and write, and the figures measure that method.",
    source: "[Linux sysctl-kernel]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let status = source.read("/proc/self/status").unwrap_or_default();
    let is_filtered =
        status.lines().any(|line| line.starts_with("Seccomp:") && line.ends_with('2'));
    let setting = source.read("/proc/sys/kernel/io_uring_disabled");
    if let Some(reason) = sampler::io_uring_refusal(|path| source.read(path)) {
        let value = setting.unwrap_or_default();
        return Outcome::finding(value.clone(), reason).sysctl(
            "kernel.io_uring_disabled",
            "0",
            &value,
        );
    }
    match setting {
        _ if is_filtered => Outcome::unknown(
            "a seccomp filter is in force, and it may refuse io_uring: see the fact \
             server_fallback of a MariaDB run",
        ),
        Some(value) => Outcome::fine(value),
        None => Outcome::unknown(
            "the kernel does not report whether it allows io_uring: kernels before Linux 6.6 lack \
             the setting",
        ),
    }
}
