//! Counters of the processor, and energy, per operation.

use model::{Readings, StepRecord, metric};

use super::operations::{Cost, ratio, set_per_op};

/// Costs per operation.
const PER_OP: [Cost; 5] = [
    (metric::INSTRUCTIONS_PER_OP, metric::HARDWARE_INSTRUCTIONS, 1.0),
    (metric::CACHE_MISSES_PER_OP, metric::HARDWARE_CACHE_MISSES, 1.0),
    (metric::BRANCH_MISSES_PER_OP, metric::HARDWARE_BRANCH_MISSES, 1.0),
    (metric::TLB_MISSES_PER_OP, metric::HARDWARE_TLB_MISSES, 1.0),
    (metric::ENERGY_UJ_PER_OP, metric::HOST_ENERGY_UJ, 1.0),
];

/// Sets the counters per operation, and instructions per cycle.
pub(super) fn set(step: &StepRecord, metrics: &mut Readings) {
    set_per_op(step, &PER_OP, metrics);
    let counter = |metric| step.counters.value(metric);
    let cycles = counter(metric::HARDWARE_CYCLES);
    let ipc = ratio(counter(metric::HARDWARE_INSTRUCTIONS), cycles);
    metrics.set(metric::INSTRUCTIONS_PER_CYCLE, ipc);
}

#[cfg(test)]
mod tests {
    use model::metric;

    use crate::step_metrics;
    use crate::testing::{DATA, readings, step};

    #[test]
    fn counters_are_per_operation_and_absent_where_the_machine_has_none() {
        let mut step = step(0, "readrandom");
        let without = step_metrics(&step, &DATA);
        assert!(!without.has(metric::ENERGY_UJ_PER_OP) && !without.has(metric::TLB_MISSES_PER_OP));
        let ops = super::super::primary_operations(&step) as f64;
        step.counters = readings(&[
            (metric::HARDWARE_CYCLES, 1_000.0),
            (metric::HARDWARE_INSTRUCTIONS, 1_500.0),
            (metric::HOST_ENERGY_UJ, 2.0 * ops),
        ]);
        let metrics = step_metrics(&step, &DATA);
        assert_eq!(metrics.value(metric::INSTRUCTIONS_PER_CYCLE), Some(1.5));
        assert_eq!(metrics.value(metric::ENERGY_UJ_PER_OP), Some(2.0));
        assert!(!metrics.has(metric::CACHE_MISSES_PER_OP));
    }
}
