//! Time the drive was too hot.

use model::record::Severity;
use model::units::many;

use super::{Check, Probe};
use crate::health;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "drive_heat",
    name: "heat of the drive",
    severity: Severity::Warning,
    why: "Above its warning temperature, a drive slows itself down.",
    source: "[NVM Express 1.4]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let health = match health::of(source) {
        Ok(health) => health,
        Err(reason) => return Outcome::unknown(reason),
    };
    match health.hot_minutes {
        None => {
            Outcome::unknown("the drive does not report its time above the warning temperature")
        }
        Some(0) => Outcome::fine("never"),
        Some(minutes) => {
            let minutes = many(minutes, "minute");
            let evidence =
                format!("the drive was above its warning temperature for {minutes} so far");
            Outcome::finding(minutes, evidence)
                .fix("# put a heat sink on the drive, or cool the machine")
        }
    }
}
