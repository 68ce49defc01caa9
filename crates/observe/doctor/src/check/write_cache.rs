//! The kernel's view of the drive's write cache.

use model::record::Severity;
use model::shell_word;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "write_cache",
    name: "write cache",
    severity: Severity::Note,
    why: "With `write through`, the kernel sends no flushes. An fsync then costs nothing, and is \
          durable only if the drive has no volatile cache.",
    source: "[Linux sysfs-block]",
    ..Check::of(Probe::in_manifests(run))
};

fn run(source: &Source) -> Outcome {
    let (text, path) = match source.queue("write_cache") {
        Ok(found) => found,
        Err(reason) => return Outcome::absent(reason),
    };
    if text == "write back" {
        return Outcome::fine(text);
    }
    Outcome::finding(text.clone(), format!("the kernel treats the cache as {text}"))
        .fix(format!("echo 'write back' > {path} # if the drive has a volatile cache"))
        .undo(format!("echo {} > {path}", shell_word(&text)))
}
