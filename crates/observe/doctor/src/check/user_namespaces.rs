//! Whether accounts without a name can set up servers.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "user_namespaces",
    name: "user namespaces",
    severity: Severity::Note,
    why: "Postgres's setup programs read the name of their account. An account without a name, as \
          in OpenShift, gets a name only in a user namespace.",
    source: "[user_namespaces 7]",
    ..Check::of(Probe::in_manifests(run))
};

/// Settings with the value that refuses namespaces. The second is Debian's, the third Ubuntu's.
const SETTINGS: [(&str, &str, &str); 3] = [
    ("user.max_user_namespaces", "0", "10000"),
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
];

fn run(source: &Source) -> Outcome {
    let value = |name: &str| source.read(format!("/proc/sys/{}", name.replace('.', "/")));
    if value(SETTINGS[0].0).is_none() {
        return Outcome::unknown("the kernel does not report its limit on user namespaces");
    }
    let refusing =
        SETTINGS.iter().find(|(name, refused, _)| value(name).as_deref() == Some(refused));
    match refusing {
        None => Outcome::fine("allowed"),
        Some((name, refused, allowed)) => {
            let setting = format!("{name}={refused}");
            Outcome::finding(setting.clone(), setting).sysctl(name, allowed, refused)
        }
    }
}
