//! Errors of the medium.

use model::record::Severity;

use super::Check;
use crate::health;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    name: "media_errors",
    subject: "media errors of the drive",
    severity: Severity::Blocking,
    why: "A block that is read again and again costs time that no engine causes; data may be lost.",
    source: "[NVM Express 1.4]",
    is_in_snapshot: false,
    run,
};

fn run(source: &Source) -> Outcome {
    let health = match health::of(source) {
        Ok(health) => health,
        Err(reason) => return Outcome::unknown(reason),
    };
    match (health.media_errors, health.is_failing) {
        (_, Some(true)) => Outcome::finding("failing", "the drive reports that it fails"),
        (None, _) => return Outcome::unknown("the drive does not report them"),
        (Some(0), _) => return Outcome::fine("none"),
        (Some(count), _) => {
            Outcome::finding(count.to_string(), format!("{count} errors of the medium"))
        }
    }
    .mend("# save the data and replace the drive")
}
