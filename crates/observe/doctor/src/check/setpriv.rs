//! The program that starts servers under their account.

use model::record::Severity;

use super::Check;
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    name: "setpriv",
    subject: "setpriv of util-linux",
    severity: Severity::Note,
    why: "Servers are started by it, so that they have no right and end with Assay; busybox's has \
          neither option. Engines in the client need it not.",
    source: "[setpriv 1]",
    is_in_snapshot: false,
    run,
};

fn run(source: &Source) -> Outcome {
    let found = source.output("setpriv", &["--version"]);
    match found {
        Ok(version) if version.contains("util-linux") => Outcome::fine(version.trim()),
        Ok(other) => finding(format!("it is of another kind: {}", other.trim())),
        Err(reason) if reason.contains("option") => finding("it is of busybox, or alike".into()),
        Err(reason) => Outcome::unknown(reason),
    }
}

fn finding(evidence: String) -> Outcome {
    Outcome::finding("not of util-linux", evidence)
        .mend("# install util-linux; in Alpine: apk add setpriv util-linux-misc")
}
