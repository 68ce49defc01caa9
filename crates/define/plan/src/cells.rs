//! The runs of an experiment in their order.

use model::{Cell, Experiment};

use crate::layout::{mix, orders};

/// Returns the runs of every repetition, in order.
///
/// Levels have a layout of their own, and the variants another within each level: variants that are
/// compared run next to each other.
pub(crate) fn cells(experiment: &Experiment) -> Vec<Cell> {
    let Experiment { clients, variants, repetitions, seed, .. } = experiment;
    let by_level = orders(clients.len(), *repetitions, mix(*seed));
    let of_variants =
        |level: &u32| orders(variants.len(), *repetitions, mix(*seed ^ mix(u64::from(*level))));
    let by_variant: Vec<_> = clients.iter().map(of_variants).collect();
    let mut cells = Vec::new();
    for (repetition, levels) in (1..).zip(by_level) {
        // All runs of a repetition have the same keys and the same arrivals.
        let seed = mix(seed ^ mix(u64::from(repetition)));
        for level in levels {
            let order = &by_variant[level][repetition as usize - 1];
            cells.extend(order.iter().map(|variant| {
                let (variant, clients) = (&variants[*variant].name, clients[level]);
                let id = format!("{variant}.c{clients}.r{repetition}");
                Cell { id, variant: variant.clone(), clients, repetition, seed }
            }));
        }
    }
    cells
}
