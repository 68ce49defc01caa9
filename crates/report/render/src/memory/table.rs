//! A row per step: resident memory, its parts, allocator totals, and the client's part.

use analysis::{is_of_server, step_metrics, with_memory};
use model::{DataShape, MallocRecord, Readings, RunRecord, StepRecord, Unit, metric};

use crate::document::{Table, known};
use crate::figure::{digits, figure};

/// Gauges at a step's end: metric and heading. The first three make up the resident memory.
///
/// All but the server's are of the worker: of the engine where it runs in it, and of Assay's client
/// where it is a server.
const GAUGES: &[(&str, &str)] = &[
    ("rss_anon_bytes", "anon"),
    ("rss_file_bytes", "file"),
    ("rss_shmem_bytes", "shared"),
    ("malloc_allocated_bytes", "allocated"),
    ("malloc_active_bytes", "active"),
    ("malloc_resident_bytes", "resident"),
    ("malloc_mapped_bytes", "mapped"),
    ("malloc_retained_bytes", "retained"),
    (metric::SERVER_MEMORY_BYTES.name, "with page cache"),
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

impl Row<'_> {
    /// Returns a gauge of the engine's memory at the step's end.
    fn gauge(&self, name: &str) -> Option<&f64> {
        let is_own = name == metric::SERVER_MEMORY_BYTES.name || !is_of_server(self.step);
        self.step.gauges_end.get(name).filter(|_| is_own)
    }

    /// Returns the peaks of the engine's memory, the server's where it is one.
    fn peak(&self, data: &DataShape) -> Readings {
        let mut metrics = step_metrics(self.step, data);
        if is_of_server(self.step) {
            let of_server = self.step.gauges_max.value(metric::SERVER_RSS_BYTES);
            metrics.set(metric::RSS_PEAK_BYTES, of_server);
        }
        with_memory(metrics, &self.run.variant.settings)
    }

    /// Returns the client's peak: all of Assay's process next to a server, else what its clients
    /// count.
    fn client(&self) -> Option<f64> {
        let of_client = match is_of_server(self.step) {
            true => metric::RSS_BYTES,
            false => metric::CLIENT_MEMORY_BYTES,
        };
        self.step.gauges_max.value(of_client)
    }
}

/// Returns whether a run's engine is a server: the worker's memory is then the client's.
pub(super) fn is_served(run: &RunRecord) -> bool {
    run.steps.iter().any(is_of_server)
}

/// Returns whether the memory of a run's engine is recorded: of a foreign server it is not.
pub(crate) fn is_recorded(run: &RunRecord) -> bool {
    let is_served = is_served(run);
    run.steps.iter().any(|step| match is_served {
        true => step.gauges_max.has(metric::SERVER_RSS_BYTES),
        false => step.malloc.is_some(),
    })
}

/// Returns the table of these steps, without unknown and zero columns.
pub(crate) fn table(headings: &[&str], rows: &[Row<'_>], data: &DataShape) -> Table {
    let is_known =
        |name: &str| rows.iter().any(|row| row.gauge(name).is_some_and(|bytes| *bytes > 0.0));
    let gauges: Vec<_> = GAUGES.iter().filter(|(name, _)| is_known(name)).collect();
    let peaks: Vec<Readings> = rows.iter().map(|row| row.peak(data)).collect();
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
        table.figures(*heading, rows.iter().map(|row| bytes(row.gauge(name))));
    }
    let of_clients: Vec<Option<f64>> = rows.iter().map(Row::client).collect();
    if of_clients.iter().any(Option::is_some) {
        table.figures("client", of_clients.iter().map(|peak| bytes(peak.as_ref())));
    }
    table
}

fn bytes(value: Option<&f64>) -> String {
    known(value.map(|value| figure(Unit::Bytes, *value)))
}

/// Returns a run's allocator with version, settings and environment variables.
pub(crate) fn allocator(run: &RunRecord) -> String {
    if is_served(run) {
        let client = match run.client_hosts.is_empty() {
            true => "Assay's process",
            false => "of Assay's processes on the client hosts",
        };
        return format!("of the server's processes; `client` is {client}");
    }
    let recorded = run.steps.iter().find_map(|step| step.malloc.as_ref());
    recorded.map_or_else(String::new, of_record)
}

fn of_record(malloc: &MallocRecord) -> String {
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
