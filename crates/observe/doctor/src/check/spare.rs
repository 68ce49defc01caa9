//! Spare blocks of the SSD.

use model::record::Severity;

use super::{Check, Probe};
use crate::health;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "spare",
    name: "spare blocks of the drive",
    severity: Severity::Warning,
    why: "When no spare blocks are left, the drive becomes read-only.",
    source: "[NVM Express 1.4]",
    ..Check::of(Probe::live(run))
};

/// Spare blocks below which it is reported, per cent: a new drive has 100. Our choice.
const FEW: u64 = 90;

fn run(source: &Source) -> Outcome {
    let health = match health::of(source) {
        Ok(health) => health,
        Err(reason) => return Outcome::unknown(reason),
    };
    let Some(left) = health.spare_percent else {
        return Outcome::unknown("the drive does not report its spare blocks");
    };
    let least = health.spare_threshold_percent.unwrap_or(0);
    let value = format!("{left} %");
    if left >= FEW && left > least {
        return Outcome::fine(value);
    }
    let evidence = format!(
        "{value} of the spare blocks are left, and the drive warns at {least} \
                            %"
    );
    Outcome::finding(value, evidence).fix("# save the data and replace the drive")
}
