//! Names of metrics and resources in sentences.

use analysis::explain::{Change, Moved, Resource};
use model::{Unit, metric};

use crate::figure::figure;

/// Names of metrics that may have moved; others keep their own.
const NAMES: &[(&str, &str)] = &[
    ("cpu_us_per_op", "CPU/op"),
    ("background_cpu_us_per_op", "background CPU/op"),
    ("kernel_cpu_us_per_op", "kernel CPU/op"),
    ("server_cpu_us_per_op", "server CPU/op"),
    ("context_switches_per_op", "context switches/op"),
    ("server_context_switches_per_op", "the server's context switches/op"),
    ("device_reads_per_op", "device reads/op"),
    ("device_read_kib_per_op", "read/op"),
    ("device_writes_per_op", "device writes/op"),
    ("device_write_kib_per_op", "written/op"),
    ("server_reads_per_op", "server reads/op"),
    ("server_read_kib_per_op", "read by the server/op"),
    ("server_writes_per_op", "server writes/op"),
    ("server_write_kib_per_op", "written by the server/op"),
    ("fsyncs_per_op", "syncs/op"),
    ("commits_per_fsync", "commits per sync"),
    ("heap_fetches_per_op", "base rows fetched/op"),
    ("engine_garbage_rows", "rows waiting for vacuum or purge"),
    ("engine_dirty_bytes", "changed pages not yet written"),
    ("write_amplification_with_wal", "write amplification"),
    ("write_amplification_process", "write amplification of the process"),
    ("write_amplification_device", "write amplification of the device"),
    ("space_amplification", "space amplification"),
    ("read_amplification", "block lookups per read"),
    ("cache_hit_share", "cache hits"),
    ("stall_share", "time stalled"),
    ("rss_peak_bytes", "peak memory"),
];

/// Returns a change: `context switches/op 1.90 -> 3.90`, with an arrow.
pub(super) fn moved(one: &Moved) -> String {
    let known = NAMES.iter().find(|(name, _)| *name == one.metric);
    let label = known.map_or(one.metric, |(_, label)| *label);
    let unit = metric::find(one.metric).map_or(Unit::Count, |metric| metric.unit);
    format!("{label} {} \u{2192} {}", figure(unit, one.base), figure(unit, one.variant))
}

/// Returns a declared difference: `direct_io = false -> true`, with an arrow.
pub(super) fn change(change: &Change) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "unset".to_owned());
    format!("{} = {} \u{2192} {}", change.name, value(&change.base), value(&change.variant))
}

/// Returns the name of a used resource.
pub(super) const fn used(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpus => "CPUs",
        Resource::Clients => "clients on a CPU",
        Resource::Device => "device at work",
    }
}

/// Returns what binds a variant, in a sentence.
pub(super) fn binds(resource: Resource, variant: &str) -> String {
    match resource {
        Resource::Cpus => format!("{variant} is bound by the CPUs."),
        Resource::Clients => {
            format!("{variant} is bound by its clients: they are hardly ever off a CPU.")
        }
        Resource::Device => format!(
            "{variant} keeps the device busy nearly all the time, and is bound by it if it \
             serves one request at a time."
        ),
    }
}

/// Returns a share in whole percent.
pub(super) fn percent(share: f64) -> String {
    // No share is written -0.
    format!("{:.0} %", (share * 100.0).round() + 0.0)
}
