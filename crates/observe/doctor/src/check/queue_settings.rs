//! Settings that shape the requests a drive gets.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "queue_settings",
    name: "settings of the queue",
    severity: Severity::Warning,
    why: "Read-ahead, request size and write throttling change the requests that reach a drive. \
          Without iostats the kernel does not count requests.",
    source: "[Linux sysfs-block]",
    ..Check::of(Probe::in_manifests(run))
};

/// Settings that no other check has.
const SETTINGS: [&str; 4] = ["read_ahead_kb", "max_sectors_kb", "rq_affinity", "wbt_lat_usec"];

/// Read-ahead from which a small read may bring much more than was requested: eight times the
/// kernel's default. Our choice.
const READ_AHEAD_KIB: u64 = 1024;
/// The kernel's default. Source: [Linux sysfs-block], `read_ahead_kb`.
const READ_AHEAD_DEFAULT: &str = "128";

fn run(source: &Source) -> Outcome {
    let setting = |name: &&str| Some(format!("{name} {}", source.queue(name).ok()?.0));
    let value = SETTINGS.iter().filter_map(setting).collect::<Vec<_>>().join(", ");
    if let Ok((text, path)) = source.queue("read_ahead_kb")
        && text.parse().is_ok_and(|kib: u64| kib >= READ_AHEAD_KIB)
    {
        let evidence = format!("read-ahead is {text} KiB, and {READ_AHEAD_DEFAULT} by default");
        return Outcome::finding(value, evidence).write(&path, READ_AHEAD_DEFAULT, &text);
    }
    match source.queue("iostats") {
        Ok((text, path)) if text == "0" => Outcome::finding(
            value,
            "iostats is 0: the kernel does not count \
                                     requests",
        )
        .write(&path, "1", "0"),
        Err(reason) if value.is_empty() => Outcome::absent(reason),
        Ok(_) if value.is_empty() => Outcome::unknown("the kernel reports no queue settings"),
        Ok(_) | Err(_) => Outcome::fine(value),
    }
}
