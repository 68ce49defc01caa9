//! The measured cost of a context switch.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "context_switch",
    name: "cost of a context switch",
    severity: Severity::Note,
    why: "Servers switch threads for each request, so this cost limits the requests per second of \
          one CPU.",
    source: "[McVoy Staelin 1996]",
    ..Check::of(Probe::live(run))
};

/// Cost from which it is slow, ns: with its pipe it takes 1 to 4 us. Our choice.
const SLOW_NS: f64 = 10_000.0;

fn run(source: &Source) -> Outcome {
    let Some(ns) = source.context_switch_ns() else {
        return Outcome::unknown(
            "the two threads cannot be bound to one CPU: allow a CPU in the container's cpuset",
        );
    };
    let value = format!("{ns:.0} ns");
    if ns <= SLOW_NS {
        return Outcome::fine(value);
    }
    let evidence = format!("a switch between two threads through a pipe takes {ns:.0} ns");
    Outcome::finding(value, evidence).fix(
        "# stop other processes, see the checks mitigations and steal; in a guest, change its \
         instance type",
    )
}
