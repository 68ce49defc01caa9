//! Limits of a process on sizes and CPU time.

use model::record::Severity;
use model::{Bytes, Nanos};

use super::open_files::{limit_of, raise};
use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "process_limits",
    name: "limits of a process",
    severity: Severity::Warning,
    why: "A process that reaches its limit on file size or CPU time is killed by a signal. A \
          process that reaches its limit on memory, address space or stack fails or dies, in the \
          middle of a run.",
    source: "[getrlimit 2]",
    ..Check::of(Probe::in_manifests(run))
};

/// Each limit by its name in `/proc`, its option of `ulimit`, and the amount that is enough.
///
/// Our choice: no limit, except for the stack, which is that of Rust's threads.
const LIMITS: [(&str, char, u64); 5] = [
    ("Max cpu time", 't', u64::MAX),
    ("Max file size", 'f', u64::MAX),
    ("Max data size", 'd', u64::MAX),
    ("Max stack size", 's', 2 << 20),
    ("Max address space", 'v', u64::MAX),
];

fn run(source: &Source) -> Outcome {
    if source.read("/proc/self/limits").is_none() {
        return Outcome::unknown("the limits cannot be read: /proc/self/limits is not readable");
    }
    // "unlimited" is no number.
    let low = LIMITS.iter().filter_map(|(name, letter, enough)| {
        let limit = limit_of(source, name)?.parse::<u64>().ok()?;
        let text = if *letter == 't' {
            Nanos::from_secs(limit).to_string()
        } else {
            Bytes(limit).to_string()
        };
        let remedy = raise(&format!("-{letter} unlimited"), &format!("{letter}=unlimited"));
        (limit < *enough).then(|| (format!("ulimit -{letter}: {text}"), remedy))
    });
    let low: Vec<(String, String)> = low.collect();
    if low.is_empty() {
        return Outcome::fine("none");
    }
    let texts: Vec<&str> = low.iter().map(|(text, _)| &**text).collect();
    let outcome = Outcome::finding(texts.join(", "), format!("limits: {}", texts.join(", ")));
    low.into_iter().fold(outcome, |outcome, (_, remedy)| outcome.fix(remedy))
}
