//! How far the SSD is worn.

use model::record::Severity;

use super::{Check, Probe};
use crate::health;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "wear",
    name: "wear of the drive",
    severity: Severity::Warning,
    why: "A worn SSD is slower and fails earlier. Benchmarks wear small drives out within months.",
    source: "[Callaghan 2022-10-24]",
    ..Check::of(Probe::live(run))
};

/// Rated writes from which it is worn, per cent. Our choice.
const WORN: u64 = 80;
/// Rated writes from which results are not usable, per cent. Our choice.
const END: u64 = 100;

fn run(source: &Source) -> Outcome {
    let health = match health::of(source) {
        Ok(health) => health,
        Err(reason) => return Outcome::unknown(reason),
    };
    let Some(percent) = health.wear_percent else {
        return Outcome::unknown("the drive does not report its wear");
    };
    let value = format!("{percent} %");
    if percent < WORN {
        return Outcome::fine(value);
    }
    let evidence = format!("the drive has used up {value} of its rated writes");
    let found = Outcome::finding(value, evidence).fix("# replace the drive");
    if percent >= END { found.severity(Severity::Blocking) } else { found }
}
