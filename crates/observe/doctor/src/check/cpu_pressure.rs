//! Tasks that wait for a CPU.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "cpu_pressure",
    name: "CPU pressure",
    severity: Severity::Warning,
    why: "On a busy machine, the measured engine gets only the CPU time that other work leaves.",
    source: "[Linux psi]",
    ..Check::of(Probe::live(run))
};

/// Share of the last minute from which it is reported, per cent. Our choice.
const MUCH_PERCENT: f64 = 5.0;

fn run(source: &Source) -> Outcome {
    let share = source.read("/proc/pressure/cpu").and_then(|text| {
        let (_, rest) = text.lines().next()?.split_once("avg60=")?;
        rest.split_ascii_whitespace().next()?.parse::<f64>().ok()
    });
    match share {
        None => Outcome::unknown("the kernel does not report pressure (boot with psi=1)"),
        Some(share) if share <= MUCH_PERCENT => Outcome::fine(format!("{share} %")),
        Some(share) => {
            let evidence = format!("tasks waited for a CPU during {share} % of the last minute");
            Outcome::finding(format!("{share} %"), evidence).fix(
                "# stop the processes that use \
                                                                   the CPUs: top",
            )
        }
    }
}
