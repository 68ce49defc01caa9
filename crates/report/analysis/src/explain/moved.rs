//! Other metrics that changed in the same runs.

use model::{Better, metric};
use serde::Serialize;
use stats::{Effect, Verdict};

use crate::comparison::{CellComparison, StepComparison};

/// A metric whose change is established.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    /// The metric's name.
    pub metric: &'static str,
    /// Its median for the base.
    pub base: f64,
    /// Its median for the variant.
    pub variant: f64,
    /// The variant relative to the base.
    pub effect: Effect,
    /// Whether it worsened with the throughput, or improved with it.
    pub is_along: bool,
}

/// Metrics that may move, and the least relevant difference in their own unit.
///
/// Our choice, because a ratio of two tiny values means nothing: a hundredth of a request or of a
/// switch per operation, a tenth of a KiB, a hundredth of a share, a twentieth of a block lookup,
/// 16 MiB of memory, a thousand rows that wait for vacuum or purge.
const MOVABLE: &[(&str, f64)] = &[
    ("cpu_us_per_op", 0.02),
    ("background_cpu_us_per_op", 0.02),
    ("kernel_cpu_us_per_op", 0.02),
    ("server_cpu_us_per_op", 0.02),
    ("context_switches_per_op", 0.01),
    ("device_reads_per_op", 0.01),
    ("device_read_kib_per_op", 0.1),
    ("device_writes_per_op", 0.01),
    ("device_write_kib_per_op", 0.1),
    ("server_context_switches_per_op", 0.01),
    ("server_reads_per_op", 0.01),
    ("server_read_kib_per_op", 0.1),
    ("server_writes_per_op", 0.01),
    ("server_write_kib_per_op", 0.1),
    ("fsyncs_per_op", 0.01),
    ("commits_per_fsync", 0.05),
    ("heap_fetches_per_op", 0.01),
    ("engine_garbage_rows", 1_000.0),
    ("engine_dirty_bytes", 16.0 * 1024.0 * 1024.0),
    ("write_amplification_with_wal", 0.05),
    ("write_amplification_process", 0.05),
    ("write_amplification_device", 0.05),
    ("space_amplification", 0.02),
    ("read_amplification", 0.05),
    ("cache_hit_share", 0.01),
    ("stall_share", 0.01),
    ("rss_peak_bytes", 16.0 * 1024.0 * 1024.0),
];

/// Metrics of the worker alone, left out with a server.
const OF_WORKERS: [&str; 3] = ["cpu_us_per_op", "background_cpu_us_per_op", "kernel_cpu_us_per_op"];

/// Returns what moved between the base and `variant`: along with `throughput` first, then by the
/// largest ratio.
pub(super) fn moved(
    step: &StepComparison,
    base: &str,
    variant: &str,
    throughput: Option<&Effect>,
) -> Vec<Moved> {
    let cell = |name: &str| step.cells.iter().find(|cell| cell.variant == name);
    let (Some(base), Some(variant)) = (cell(base), cell(variant)) else { return Vec::new() };
    // With a known server CPU, the client's CPU is only the canary.
    let has_server = base.metric("server_cpu_us_per_op").is_some();
    let is_listed = |name: &str| !(has_server && OF_WORKERS.contains(&name));
    let one = |(name, least): &(&'static str, f64)| one(name, *least, base, variant, throughput);
    let movable = MOVABLE.iter().filter(|(name, _)| is_listed(name));
    let mut all: Vec<Moved> = movable.filter_map(one).collect();
    all.sort_by(|a, b| {
        let size = |moved: &Moved| moved.effect.ratio.ln().abs();
        b.is_along.cmp(&a.is_along).then(size(b).total_cmp(&size(a)))
    });
    all
}

fn one(
    name: &'static str,
    least: f64,
    base: &CellComparison,
    variant: &CellComparison,
    throughput: Option<&Effect>,
) -> Option<Moved> {
    let (base, variant) = (base.metric(name)?, variant.metric(name)?);
    let effect = variant.versus_base?;
    let is_above = match effect.verdict {
        Verdict::Above => true,
        Verdict::Below => false,
        Verdict::SmallButReal | Verdict::Equivalent | Verdict::Inconclusive => return None,
    };
    let (base, variant) = (base.spread.median, variant.spread.median);
    let is_along = throughput.is_some_and(|throughput| {
        let is_worse = match metric::find(name).map(|metric| metric.better) {
            Some(Better::Lower) => is_above,
            Some(Better::Higher) => !is_above,
            Some(Better::Neither) | None => return false,
        };
        is_worse == (throughput.ratio < 1.0)
    });
    let moved = Moved { metric: name, base, variant, effect, is_along };
    ((variant - base).abs() >= least).then_some(moved)
}
