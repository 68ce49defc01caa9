//! The measured cost of a clock read.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "clock_read",
    name: "cost of a clock read",
    severity: Severity::Warning,
    why: "Engines and clients read the clock several times per operation.",
    source: "[Callaghan 2022-10-24]",
    ..Check::of(Probe::live(run))
};

/// Cost from which it is slow, ns: a read without a system call takes 20 to 60. Our choice.
const SLOW_NS: f64 = 200.0;

fn run(source: &Source) -> Outcome {
    let ns = source.clock_read_ns();
    let value = format!("{ns:.0} ns");
    if ns <= SLOW_NS {
        return Outcome::fine(value);
    }
    Outcome::finding(value, format!("one read of the kernel's clock takes {ns:.0} ns"))
        .fix("# see the check clock_source; in a guest, choose an instance type with a stable TSC")
}
