//! An experiment to its runs, in order, with what they will cost.

use std::collections::BTreeSet;

use model::record::{Finding, Severity};
use model::{Bytes, Cell, Experiment, Nanos, Plan, Step, StopRule};

use crate::error::PlanError;

/// Free space that is never used up: below it a run is refused or stopped.
pub const DISK_FLOOR_BYTES: Bytes = Bytes(2 << 30);
/// Rows per second a fill is assumed to reach, for the estimate of machine time only.
const ASSUMED_ROWS_PER_S: u64 = 150_000;
/// Time to start a worker, open and close the engine and take the readings, for the estimate only.
const ASSUMED_OVERHEAD: Nanos = Nanos::from_millis(700);
/// Most runs of one plan.
const CELLS_MAX: usize = 100_000;
/// Space one run may take, as a multiple of its live rows: obsolete versions and the transient
/// copies of a compaction each take up to as much again.
const DISK_PER_LIVE: u64 = 3;

/// Expands an experiment into its runs, block-randomised from the seed.
///
/// A block is one repetition: every cell once, in an order of its own, so that slow drift of the
/// machine falls on all variants alike. All runs of a block share their seed.
///
/// # Errors
/// When the runs cannot fit the disk, or are too many.
pub fn expand(experiment: Experiment, disk_free: Bytes) -> Result<Plan, PlanError> {
    let per_block = experiment.variants.len() * experiment.clients.len();
    if per_block.saturating_mul(experiment.repetitions as usize) > CELLS_MAX {
        return Err(PlanError::new(format!("more than {CELLS_MAX} runs"))
            .remedy("fewer variants, client counts or repetitions"));
    }
    let disk = Bytes(experiment.data.live_bytes().0.saturating_mul(DISK_PER_LIVE));
    let usable = Bytes(disk_free.0.saturating_sub(DISK_FLOOR_BYTES.0));
    if disk > usable {
        return Err(PlanError::new(format!(
            "one run may take {disk} of disk, but only {usable} can be used ({disk_free} free, of \
             which {DISK_FLOOR_BYTES} stay free)"
        ))
        .remedy("fewer rows, or a data directory on a larger file system (--data-dir)"));
    }
    let mut cells = Vec::new();
    for repetition in 1..=experiment.repetitions {
        cells.extend(block(&experiment, repetition));
    }
    let estimated_ns = Nanos(cells.iter().map(|cell| run_time(&experiment, cell).0).sum());
    let findings = findings(&experiment);
    Ok(Plan { experiment, cells, estimated_ns, estimated_disk_bytes: disk, findings })
}

/// Returns one block's cells in their random order.
fn block(experiment: &Experiment, repetition: u32) -> Vec<Cell> {
    let block_seed = mix(experiment.seed ^ mix(u64::from(repetition)));
    let mut cells = Vec::new();
    for &clients in &experiment.clients {
        for variant in &experiment.variants {
            cells.push(Cell {
                id: format!("{}.c{clients}.r{repetition}", variant.name),
                variant: variant.name.clone(),
                clients,
                repetition,
                seed: block_seed,
            });
        }
    }
    shuffle(&mut cells, mix(block_seed));
    cells
}

/// Shuffles in place. Source: Fisher & Yates 1938; Durstenfeld 1964, Algorithm 235.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state = mix(state);
        let bound = last as u64 + 1;
        // The bias of the remainder is below 2^-40 for any plan that passes CELLS_MAX.
        let pick = usize::try_from(state % bound).expect("below the length of a slice");
        items.swap(last, pick);
    }
}

/// Mixes 64 bits. Source: Steele, Lea & Flood 2014, `SplitMix64`.
const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Estimates one run's machine time.
fn run_time(experiment: &Experiment, cell: &Cell) -> Nanos {
    let span = |step: &Step| match step.stop {
        StopRule::Operations(n) => n.saturating_mul(1_000_000_000) / ASSUMED_ROWS_PER_S,
        StopRule::Duration(span) => span.0.saturating_add(step.warmup.0),
    };
    let steps: u64 = experiment.steps_for(cell.clients).iter().map(span).sum();
    Nanos(steps.saturating_add(ASSUMED_OVERHEAD.0))
}

/// Returns what should be doubted about an experiment before machine time is spent.
#[must_use]
pub fn findings(experiment: &Experiment) -> Vec<Finding> {
    let mut findings = Vec::new();
    let classes: BTreeSet<_> =
        experiment.variants.iter().map(|variant| variant.settings.durability).collect();
    if classes.len() > 1 {
        let names: Vec<_> = classes.iter().map(|class| class.name()).collect();
        findings.push(Finding {
            code: "A001".to_owned(),
            severity: Severity::Doubt,
            seen: format!("the variants' durability classes differ: {}", names.join(", ")),
            remedy: "give all variants one class, or make durability the question".to_owned(),
        });
    }
    if experiment.repetitions < 3 {
        findings.push(Finding {
            code: "A039".to_owned(),
            severity: Severity::Doubt,
            seen: match experiment.repetitions {
                1 => "every cell is run once: no difference can be told from noise".to_owned(),
                n => format!("{n} repetitions: run-to-run noise is poorly known"),
            },
            remedy: "set `repetitions` to 3 or more (--repetitions 3)".to_owned(),
        });
    }
    findings
}
