//! CPU time that other guests took.

use model::percent;
use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "steal",
    name: "steal",
    severity: Severity::Warning,
    why: "The work of other guests changes from run to run, and does not describe the engine.",
    source: "[Callaghan 2023-01-02]",
    ..Check::of(Probe::live(run))
};

/// Share from which it is reported, as by rule A021 of lint. Our choice.
const MUCH: f64 = 0.005;

fn run(source: &Source) -> Outcome {
    let fields = source.read("/proc/stat").and_then(|text| {
        let line = text.lines().next()?.strip_prefix("cpu ")?.trim().to_owned();
        line.split_ascii_whitespace()
            .map(|field| field.parse::<u64>().ok())
            .collect::<Option<Vec<_>>>()
    });
    // Source: [proc 5]: user nice system idle iowait irq softirq steal.
    let Some((all, stolen)) = fields.and_then(|it| Some((it.get(..8)?.iter().sum::<u64>(), it[7])))
    else {
        return Outcome::unknown("/proc/stat does not report steal");
    };
    let share = model::float(stolen) / model::float(all.max(1));
    let value = percent(share);
    if share <= MUCH {
        return Outcome::fine(value);
    }
    Outcome::finding(value.clone(), format!("other guests took {value} of the CPU since boot"))
        .fix("# use a machine or a guest whose CPUs are not shared")
}
