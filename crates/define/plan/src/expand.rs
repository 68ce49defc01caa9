//! Expands an experiment into ordered runs with estimated costs.

use model::limits::CELLS_MAX;
use model::{Bytes, Experiment, Nanos, Plan, SIMULATED_DATA_MAX, Variant};
use reader::error::PlanError;

use crate::catalog::Catalog;
use crate::cost::Cost;
use crate::layout::{cells, phrase};
use crate::reuse::time_of;

/// Default floor of free space, below which runs are rejected.
pub const DISK_FLOOR_BYTES: Bytes = Bytes(2 << 30);
/// Disk space on the file system of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes free now.
    pub free: Bytes,
    /// Bytes that must stay free; [`DISK_FLOOR_BYTES`] by default.
    pub floor: Bytes,
}

/// Expands an experiment into its runs, laid out from the seed.
///
/// A block is one repetition: every cell once, in the order of a [layout] that balances slow drift
/// of the machine and carry-over effects between the variants. All runs of a block share their
/// seed. The plan for more repetitions begins with the plan for fewer. The findings are filled in
/// by the linter.
///
/// # Errors
/// When the runs cannot fit the disk, or are too many.
pub fn expand(
    experiment: Experiment,
    catalog: &dyn Catalog,
    room: Room,
) -> Result<Plan, PlanError> {
    let per_block = experiment.variants.len() * experiment.clients.len();
    if per_block.saturating_mul(experiment.repetitions as usize) > CELLS_MAX {
        return Err(PlanError::new(format!("more than {CELLS_MAX} runs"))
            .remedy("use fewer variants, client counts or repetitions"));
    }
    let costs: Vec<_> =
        experiment.variants.iter().map(|variant| Cost::of(variant, catalog)).collect();
    let disk = costs.iter().map(|cost| cost.disk(&experiment)).max().unwrap_or(Bytes(0));
    let Room { free, floor } = room;
    let usable = Bytes(free.0.saturating_sub(floor.0));
    if disk > usable {
        return Err(PlanError::new(format!(
            "one run may take {disk} of disk, but only {usable} can be used ({free} are free, and \
             {floor} must stay free)"
        ))
        .remedy(
            "use fewer rows, name a data directory on a larger file system with --data-dir, or \
             lower --disk-floor of assay run",
        ));
    }
    if experiment.has_disk_events() && disk > SIMULATED_DATA_MAX {
        return Err(PlanError::new(format!(
            "one run may take {disk} of disk, and events on the disk need data of at most \
             {SIMULATED_DATA_MAX}: the disk is simulated in memory"
        ))
        .remedy("use fewer rows, or leave out `disk_full` and `fsync_fails`"));
    }
    let mut cells = cells(&experiment);
    cells.retain(|cell| !experiment.is_left_out(&cell.variant));
    let estimated_ns = time_of(&experiment, &cells, &costs, experiment.load.reuse);
    Ok(Plan {
        experiment,
        cells,
        estimated_ns,
        estimated_disk_bytes: disk,
        pilot_repetitions: None,
        findings: Vec::new(),
    })
}

/// Describes the layout of an experiment's runs.
pub fn layout(experiment: &Experiment) -> String {
    let phrase = phrase(experiment.variants.len(), experiment.repetitions);
    let within = if experiment.clients.len() > 1 && experiment.variants.len() > 1 {
        " within each number of clients"
    } else {
        ""
    };
    format!("{phrase}{within}")
}

/// Estimates the machine time of a variant's run at a level.
pub fn run_time(
    experiment: &Experiment,
    variant: &Variant,
    clients: u32,
    catalog: &dyn Catalog,
) -> Nanos {
    Cost::of(variant, catalog).time(experiment, clients)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::tests::sample::{TestCatalog, experiment};

    const DISK: Bytes = Bytes(1 << 40);

    fn plan_of(experiment_of: Experiment, free: Bytes) -> Result<Plan, PlanError> {
        expand(experiment_of, &TestCatalog::default(), Room { free, floor: DISK_FLOOR_BYTES })
    }

    /// Returns an experiment of that many variants and levels.
    fn experiment_of(variants: usize, levels: u32, repetitions: u32, seed: u64) -> Experiment {
        let mut experiment_of = experiment("10k", "10k");
        let first = experiment_of.variants.remove(0);
        let named = |n| model::Variant { name: format!("v{n}"), ..first.clone() };
        experiment_of.variants = (0..variants).map(named).collect();
        experiment_of.clients = (1..=levels).collect();
        (experiment_of.repetitions, experiment_of.seed) = (repetitions, seed);
        experiment_of
    }

    proptest! {
        // Fifteen shapes, each about four times; each case has plans of several lengths.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_block_has_every_cell_once_and_one_seed(
            (variants, levels, repetitions) in (1_usize..6, 1_u32..4, 1_u32..5), seed: u64
        ) {
            let plan = plan_of(experiment_of(variants, levels, repetitions, seed), DISK).unwrap();
            let per_block = variants * levels as usize;
            prop_assert_eq!(plan.cells.len(), per_block * repetitions as usize);
            let mut seeds = BTreeMap::new();
            for (block, repetition) in plan.cells.chunks(per_block).zip(1..) {
                let cells: BTreeSet<_> =
                    block.iter().map(|cell| (&cell.variant, cell.clients)).collect();
                prop_assert_eq!(cells.len(), per_block);
                prop_assert!(block.iter().all(|cell| cell.repetition == repetition));
                prop_assert!(block.iter().all(|cell| cell.seed == block[0].seed));
                seeds.insert(block[0].seed, repetition);
            }
            prop_assert_eq!(seeds.len(), repetitions as usize, "each block has its own seed");
        }

        #[test]
        fn a_plan_for_more_repetitions_begins_with_the_plan_for_fewer(
            (variants, levels) in (1_usize..6, 1_u32..4), seed: u64
        ) {
            let all = plan_of(experiment_of(variants, levels, 7, seed), DISK).unwrap().cells;
            for few in 1..7 {
                let few = plan_of(experiment_of(variants, levels, few, seed), DISK).unwrap().cells;
                prop_assert_eq!(&all[..few.len()], &few[..]);
            }
        }

        #[test]
        fn linear_drift_affects_all_variants_of_a_level_equally(
            (variants, levels) in (1_usize..6, 1_u32..4), seed: u64
        ) {
            let cells = plan_of(experiment_of(variants, levels, 6, seed), DISK).unwrap().cells;
            let mut slots = BTreeMap::<u32, BTreeMap<&str, usize>>::new();
            for (slot, cell) in cells.iter().enumerate() {
                *slots.entry(cell.clients).or_default().entry(&cell.variant).or_default() += slot;
            }
            for sums in slots.values() {
                let sums: BTreeSet<_> = sums.values().collect();
                prop_assert_eq!(sums.len(), 1, "{:?}", slots);
            }
        }

        #[test]
        fn the_order_follows_from_the_seed_alone(seed: u64) {
            let plan = |seed| plan_of(experiment_of(5, 2, 3, seed), DISK).unwrap().cells;
            prop_assert_eq!(plan(seed), plan(seed));
            prop_assert_ne!(plan(seed), plan(seed ^ 1));
        }
    }

    #[test]
    fn every_variant_is_first_equally_often() {
        let mut firsts = BTreeMap::<String, u32>::new();
        for seed in 0..1000 {
            let plan = plan_of(experiment_of(4, 1, 1, seed), DISK).unwrap();
            *firsts.entry(plan.cells[0].variant.clone()).or_default() += 1;
        }
        // 250 expected, standard deviation 13.7: five of them.
        assert!(firsts.values().all(|count| (181..320).contains(count)), "{firsts:?}");
    }

    #[test]
    fn a_plan_larger_than_the_disk_is_rejected_with_the_figures() {
        let live = experiment_of(1, 1, 1, 1).data.live_bytes().0;
        assert!(plan_of(experiment_of(1, 1, 1, 1), Bytes(DISK_FLOOR_BYTES.0 + 3 * live)).is_ok());
        let short = Bytes(DISK_FLOOR_BYTES.0 + 3 * live - 1);
        let refused = plan_of(experiment_of(1, 1, 1, 1), short).unwrap_err().to_string();
        assert!(refused.starts_with("one run may take 12.0 MiB of disk"), "{refused}");
        let room = Room { free: Bytes(3 * live), floor: Bytes(0) };
        assert!(
            expand(experiment_of(1, 1, 1, 1), &TestCatalog::default(), room).is_ok(),
            "no floor"
        );
    }

    #[test]
    fn data_larger_than_a_simulated_disk_are_rejected() {
        let mut experiment = experiment_of(1, 1, 1, 1);
        let kind = model::EventKind::FsyncFails;
        experiment.steps[0].events = vec![model::StepEvent { at: Nanos::SECOND, kind }];
        assert!(plan_of(experiment.clone(), Bytes(u64::MAX)).is_ok());
        experiment.data.rows *= 1_000;
        let refused = plan_of(experiment, Bytes(u64::MAX)).unwrap_err().to_string();
        assert!(refused.contains("need data of at most 1.00 GiB"), "{refused}");
    }

    #[test]
    fn too_many_runs_are_rejected() {
        let refused = plan_of(experiment_of(5, 2, 10_001, 1), DISK).unwrap_err().to_string();
        assert_eq!(refused, "more than 10000 runs");
    }

    #[test]
    fn time_is_estimated_from_rows_durations_and_warm_up() {
        let plan = plan_of(experiment_of(1, 1, 2, 1), DISK).unwrap();
        // Twice: 11,000 rows at the assumed rate, a minute, 5 s of warm-up and the overhead.
        let expected = 2.0 * (11_000.0 / 150_000.0 + 60.0 + 5.0 + 0.7);
        assert!((plan.estimated_ns.as_secs_f64() - expected).abs() < 1e-6);
    }

    #[test]
    fn a_search_is_estimated_from_its_probes() {
        let seconds = |load: &str, factors: &str| {
            let text = format!("10k\"\nwarmup = \"5s\"\nload = {load}\n[factors]\n{factors}");
            let experiment_of = experiment("10k\"", &text);
            plan_of(experiment_of, DISK).unwrap().estimated_ns.as_secs_f64()
        };
        let fixed = 11_000.0 / 150_000.0 + 0.7;
        let near = |found: f64, expected: f64| (found - fixed - expected).abs() < 1e-6;
        let limit = "{ sla = \"p99 < 2ms\" }";
        assert!(near(seconds(limit, ""), 12.0 * 65.0 + 600.0));
        assert!(near(seconds("{ rate = \"1k/s\" }", ""), 65.0));
        // 1, 2, 3, 4, 6, 8, 12, 16, 24 and 32 clients, and the best of them again.
        let adaptive = seconds(limit, "clients = \"adaptive\"");
        assert!((adaptive - 0.7 - 11.0 * 65.0).abs() < 1.0, "{adaptive}");
    }
}
