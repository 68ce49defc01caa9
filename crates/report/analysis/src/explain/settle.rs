//! Costs of the settle after the explained step.

use model::{Metric, metric};
use serde::Serialize;
use stats::Effect;

use crate::comparison::StepComparison;

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
    let of = |name: &str, metric: Metric| {
        let cell = step.cells.iter().find(|cell| cell.variant == name)?;
        cell.metric(metric)
    };
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
