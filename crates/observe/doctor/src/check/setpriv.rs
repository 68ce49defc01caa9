//! The program that starts servers under their account.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "setpriv",
    name: "setpriv of util-linux",
    severity: Severity::Note,
    why: "Assay starts servers with setpriv, so that they have no privileges and end with Assay. \
          The setpriv of busybox lacks the options that Assay needs. Embedded engines do not need \
          setpriv.",
    source: "[setpriv 1]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let found = source.output("setpriv", &["--version"]);
    match found {
        Ok(version) if version.contains("util-linux") => Outcome::fine(version.trim()),
        Ok(other) => finding(format!("setpriv is of another kind: {}", other.trim())),
        Err(reason) if reason.contains("option") => finding(
            "setpriv seems to come from \
                                                             busybox"
                .into(),
        ),
        Err(reason) => Outcome::unknown(reason),
    }
}

fn finding(evidence: String) -> Outcome {
    Outcome::finding("not of util-linux", evidence)
        .fix("# install util-linux; in Alpine: apk add setpriv util-linux-misc")
}
