//! Errors of the medium.

use model::record::Severity;

use super::{Check, Probe};
use crate::health;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "media_errors",
    name: "media errors of the drive",
    severity: Severity::Blocking,
    why: "If the drive must read a block repeatedly, requests take longer for a reason outside of \
          the engine. Data on the drive may be lost.",
    source: "[NVM Express 1.4]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let health = match health::of(source) {
        Ok(health) => health,
        Err(reason) => return Outcome::unknown(reason),
    };
    match (health.media_errors, health.is_failing) {
        (_, Some(true)) => Outcome::finding("failing", "the drive reports that it is failing"),
        (None, _) => return Outcome::unknown("the drive does not report its media errors"),
        (Some(0), _) => return Outcome::fine("none"),
        (Some(count), _) => {
            Outcome::finding(count.to_string(), format!("the drive has {count} media errors"))
        }
    }
    .fix("# save the data and replace the drive")
}
