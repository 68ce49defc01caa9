//! Other metrics that changed in the same runs, and costs of the settle after the step.

use model::{Better, Metric, metric};
use serde::Serialize;
use stats::{Effect, Verdict};

use super::identity::Pair;
use crate::comparison::{CellComparison, StepComparison};

/// A metric whose change is established.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    /// The metric's name.
    pub metric: &'static str,
    /// Its mean for the base.
    pub base: f64,
    /// Its mean for the variant.
    pub variant: f64,
    /// The variant relative to the base.
    pub effect: Effect,
    /// Whether it worsened with the metric that is explained, or improved with it.
    pub is_along: bool,
}

/// Metrics that may move, and the least relevant difference in their own unit.
///
/// Our choice, because a ratio of two tiny values means nothing: a hundredth of a request or of a
/// switch per operation, a tenth of a KiB, 16 bytes of a log, a hundredth of a share, a twentieth
/// of a block lookup, 16 MiB of memory, a thousand rows that wait for vacuum or purge.
const MOVABLE: &[(Metric, f64)] = &[
    (metric::THROUGHPUT_OPS_PER_S, 0.0),
    (metric::CPU_US_PER_OP, 0.02),
    (metric::BACKGROUND_CPU_US_PER_OP, 0.02),
    (metric::KERNEL_CPU_US_PER_OP, 0.02),
    (metric::SERVER_CPU_US_PER_OP, 0.02),
    (metric::CONTEXT_SWITCHES_PER_OP, 0.01),
    (metric::DEVICE_READS_PER_OP, 0.01),
    (metric::DEVICE_READ_KIB_PER_OP, 0.1),
    (metric::DEVICE_WRITES_PER_OP, 0.01),
    (metric::DEVICE_WRITE_KIB_PER_OP, 0.1),
    (metric::SERVER_CONTEXT_SWITCHES_PER_OP, 0.01),
    (metric::SERVER_READS_PER_OP, 0.01),
    (metric::SERVER_READ_KIB_PER_OP, 0.1),
    (metric::SERVER_WRITES_PER_OP, 0.01),
    (metric::SERVER_WRITE_KIB_PER_OP, 0.1),
    (metric::FSYNCS_PER_OP, 0.01),
    (metric::COMMITS_PER_FSYNC, 0.05),
    (metric::WAL_BYTES_PER_OP, 16.0),
    (metric::WAL_PAGE_IMAGES_PER_OP, 0.01),
    (metric::BINLOG_BYTES_PER_OP, 16.0),
    (metric::WRITE_BACK_KIB_PER_OP, 0.1),
    (metric::HEAP_FETCHES_PER_OP, 0.01),
    (metric::ENGINE_GARBAGE_ROWS, 1_000.0),
    (metric::ENGINE_DIRTY_BYTES, 16.0 * 1024.0 * 1024.0),
    (metric::BYTES_WRITTEN_PER_BYTE_PUT, 0.05),
    (metric::WRITE_AMPLIFICATION_WITH_WAL, 0.05),
    (metric::WRITE_AMPLIFICATION_PROCESS, 0.05),
    (metric::WRITE_AMPLIFICATION_DEVICE, 0.05),
    (metric::SPACE_AMPLIFICATION, 0.02),
    (metric::READ_AMPLIFICATION, 0.05),
    (metric::CACHE_HIT_SHARE, 0.01),
    (metric::STALL_SHARE, 0.01),
    (metric::RSS_PEAK_BYTES, 16.0 * 1024.0 * 1024.0),
];

/// Metrics of the worker alone, left out with a server.
const OF_WORKERS: [Metric; 3] =
    [metric::CPU_US_PER_OP, metric::BACKGROUND_CPU_US_PER_OP, metric::KERNEL_CPU_US_PER_OP];

/// The metric that is explained, with its effect.
#[derive(Clone, Copy)]
pub(super) struct Explained<'a> {
    pub(super) metric: Metric,
    pub(super) effect: Option<&'a Effect>,
}

/// Returns what moved between the base and `variant`: along with what is explained first, then by
/// the largest ratio.
pub(super) fn moved(
    step: &StepComparison,
    names: Pair<&str>,
    explained: Explained<'_>,
) -> Vec<Moved> {
    let (Some(base), Some(variant)) = (step.cell(names.base), step.cell(names.variant)) else {
        return Vec::new();
    };
    // With a known server CPU, the client's CPU is only the canary.
    let has_server = base.metric(metric::SERVER_CPU_US_PER_OP).is_some();
    let is_listed = |metric: &Metric| {
        *metric != explained.metric && !(has_server && OF_WORKERS.contains(metric))
    };
    let one =
        |(metric, least): &(Metric, f64)| one(*metric, *least, Pair { base, variant }, explained);
    let movable = MOVABLE.iter().filter(|(metric, _)| is_listed(metric));
    let mut all: Vec<Moved> = movable.filter_map(one).collect();
    all.sort_by(|a, b| {
        let size = |moved: &Moved| moved.effect.ratio.ln().abs();
        b.is_along.cmp(&a.is_along).then(size(b).total_cmp(&size(a)))
    });
    all
}

fn one(
    metric: Metric,
    least: f64,
    Pair { base, variant }: Pair<&CellComparison>,
    explained: Explained<'_>,
) -> Option<Moved> {
    let (base, variant) = (base.metric(metric)?, variant.metric(metric)?);
    let effect = variant.versus_base?;
    let is_above = match effect.verdict {
        Verdict::Above => true,
        Verdict::Below => false,
        Verdict::SmallButReal | Verdict::Equivalent | Verdict::Inconclusive => return None,
    };
    let (base, variant) = (base.spread.mean, variant.spread.mean);
    let is_worse = |metric: Metric, is_above: bool| match metric.better {
        Better::Lower => Some(is_above),
        Better::Higher => Some(!is_above),
        Better::Neither => None,
    };
    let is_along = explained.effect.is_some_and(|effect| {
        let [own, its] = [(metric, is_above), (explained.metric, effect.ratio > 1.0)]
            .map(|(metric, is_above)| is_worse(metric, is_above));
        own.is_some() && own == its
    });
    let moved = Moved { metric: metric.name, base, variant, effect, is_along };
    ((variant - base).abs() >= least).then_some(moved)
}

/// A cost of the settle; means over the runs, absent where it is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettleCost {
    /// The metric's name.
    pub metric: &'static str,
    /// Its mean for the base.
    pub base: Option<f64>,
    /// Its mean for the variant.
    pub variant: Option<f64>,
    /// The variant relative to the base; `None` without a ratio.
    pub effect: Option<Effect>,
}

/// Time, CPU per operation of the step, and bytes written.
const COSTS: [Metric; 3] =
    [metric::SETTLE_S, metric::SETTLE_CPU_US_PER_OP, metric::SETTLE_WRITE_BYTES];

/// Returns the costs of the settle that either side knows; none of a step that does not settle.
pub(super) fn settle(step: &StepComparison, base: &str, variant: &str) -> Vec<SettleCost> {
    let of = |name: &str, metric: Metric| step.cell(name)?.metric(metric);
    let costs = COSTS.iter().map(|metric| {
        let (base, variant) = (of(base, *metric), of(variant, *metric));
        SettleCost {
            metric: metric.name,
            base: base.map(|one| one.spread.mean),
            variant: variant.map(|one| one.spread.mean),
            effect: variant.and_then(|one| one.versus_base),
        }
    });
    costs.filter(|cost| cost.base.or(cost.variant).is_some()).collect()
}
