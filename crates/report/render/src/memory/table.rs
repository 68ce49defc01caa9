//! A row per step: resident memory, its parts, allocator totals.

use analysis::{step_metrics, with_memory};
use model::{DataShape, MallocRecord, Readings, RunRecord, StepRecord, Unit};

use crate::document::{Table, known};
use crate::figure::{digits, figure};

/// Gauges at a step's end: metric and heading. The first three make up the resident memory.
const GAUGES: &[(&str, &str)] = &[
    ("rss_anon_bytes", "anon"),
    ("rss_file_bytes", "file"),
    ("rss_shmem_bytes", "shared"),
    ("malloc_allocated_bytes", "allocated"),
    ("malloc_active_bytes", "active"),
    ("malloc_resident_bytes", "resident"),
    ("malloc_mapped_bytes", "mapped"),
    ("malloc_retained_bytes", "retained"),
];

/// Settings of an allocator that move its memory, by their own names.
const SETTINGS: &[&str] = &[
    "narenas",
    "dirty_decay_ms",
    "muzzy_decay_ms",
    "background_thread",
    "max_total_thread_cache_bytes",
];

/// One step of one run with its names.
pub(crate) struct Row<'a> {
    /// A step, or a variant and a step.
    pub(crate) names: Vec<&'a str>,
    /// The run.
    pub(crate) run: &'a RunRecord,
    /// The step.
    pub(crate) step: &'a StepRecord,
}

/// Returns the table of these steps, without unknown and zero columns.
pub(crate) fn table(headings: &[&str], rows: &[Row<'_>], data: &DataShape) -> Table {
    let is_known = |name: &str| {
        rows.iter().any(|row| row.step.gauges_end.get(name).is_some_and(|bytes| *bytes > 0.0))
    };
    let gauges: Vec<_> = GAUGES.iter().filter(|(name, _)| is_known(name)).collect();
    let peaks: Vec<Readings> = rows.iter().map(|row| peak(row, data)).collect();
    let has_cache = peaks.iter().any(|peak| peak.contains_key("rss_per_cache"));
    let mut table = Table::default();
    for (index, heading) in headings.iter().enumerate() {
        table.labels(*heading, rows.iter().map(|row| row.names[index]));
    }
    table.figures("rss peak", peaks.iter().map(|peak| bytes(peak.get("rss_peak_bytes"))));
    if has_cache {
        let per_cache = peaks.iter().map(|peak| peak.get("rss_per_cache").copied().map(digits));
        table.figures("/cache", per_cache.map(known));
    }
    for (name, heading) in gauges {
        table.figures(*heading, rows.iter().map(|row| bytes(row.step.gauges_end.get(*name))));
    }
    table
}

fn peak(row: &Row<'_>, data: &DataShape) -> Readings {
    with_memory(step_metrics(row.step, data), &row.run.variant.settings)
}

fn bytes(value: Option<&f64>) -> String {
    known(value.map(|value| figure(Unit::Bytes, *value)))
}

/// Returns an allocator with version, settings and environment variables.
pub(crate) fn allocator(malloc: &MallocRecord) -> String {
    // jemalloc's version ends with the commit it was built from.
    let version = malloc.version.split('-').next().unwrap_or_default();
    let is_variable = |name: &str| name.chars().all(|letter| !letter.is_ascii_lowercase());
    let shown = malloc
        .settings
        .iter()
        .filter(|(name, _)| SETTINGS.contains(&name.as_str()) || is_variable(name));
    let settings: Vec<String> = shown.map(|(name, value)| format!("{name} {value}")).collect();
    let of = format!("{} {version}", malloc.allocator);
    if settings.is_empty() { of } else { format!("{of} ({})", settings.join(", ")) }
}
