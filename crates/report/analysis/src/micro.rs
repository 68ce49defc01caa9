//! Microbenchmark times with intervals and ratios.

use model::{Kernel, MicroRecord};
use serde::Serialize;
use stats::distribution::student::half_width;
use stats::{CellVariance, Design, Effect, Interval, classify_difference, geometric_mean};

/// Differences that matter: a tight loop repeats to about a percent.
const MARGIN: f64 = 0.02;

/// CoV of a loop to assume after a single round, as a share.
const NOISE: f64 = 0.02;

/// One implementation at one kernel and block size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelCell {
    /// The kernel.
    pub kernel: Kernel,
    /// Size of a block, in bytes.
    pub block_bytes: u32,
    /// Name of the implementation.
    pub implementation: String,
    /// Rounds.
    pub rounds: usize,
    /// Time of a block: the geometric mean of the rounds, in nanoseconds.
    pub ns_per_block: f64,
    /// Its interval of 95 %; `None` with a single round.
    pub interval: Option<Interval>,
    /// Speed, in MB (10^6 bytes) of uncompressed block a second.
    pub mb_per_s: f64,
    /// Ratio to the first implementation's time; `None` for that one.
    pub versus_first: Option<Effect>,
}

/// Returns every cell, in the order of kernels, block sizes and implementations.
///
/// The n-th rounds of two implementations were measured one after the other: they are compared as
/// pairs. A ratio is that of both means.
///
/// Source: Student's t and [`classify_difference()`], on logarithms.
pub fn kernel_cells(record: &MicroRecord) -> Vec<KernelCell> {
    let design = Design { margin: MARGIN, prior: None, is_paired: true, assumed_cov: NOISE };
    let mut cells = Vec::new();
    for times in &record.times {
        let is_same = |other: &&model::KernelTimes| {
            (other.kernel, other.block_bytes) == (times.kernel, times.block_bytes)
        };
        let first = record.times.iter().find(is_same).filter(|first| *first != times);
        let Some(ns) = geometric_mean(&times.ns_per_block) else { continue };
        let interval = CellVariance::of(&times.ns_per_block).map(|spread| {
            let error = (spread.variance / (spread.df + 1.0)).sqrt();
            let factor = (half_width(0.95, spread.df) * error).exp();
            Interval { low: ns / factor, high: ns * factor }
        });
        cells.push(KernelCell {
            kernel: times.kernel,
            block_bytes: times.block_bytes,
            implementation: times.implementation.clone(),
            rounds: times.ns_per_block.len(),
            ns_per_block: ns,
            interval,
            mb_per_s: f64::from(times.block_bytes) * 1e3 / ns,
            versus_first: first.and_then(|first| {
                classify_difference(&first.ns_per_block, &times.ns_per_block, &design)
            }),
        });
    }
    cells
}

#[cfg(test)]
mod tests {
    use model::KernelTimes;

    use super::*;

    fn times(implementation: &str, factor: f64) -> KernelTimes {
        let rounds = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8];
        let ns_per_block = rounds.map(|ns: f64| ns * factor + 100.0 / ns).to_vec();
        KernelTimes {
            kernel: Kernel::Xxh3,
            block_bytes: 4096,
            implementation: implementation.to_owned(),
            ns_per_block,
        }
    }

    #[test]
    fn a_time_has_an_interval_and_a_ratio_to_the_first() {
        let record = MicroRecord {
            created_at: String::new(),
            assay_version: String::new(),
            host: model::Host::default(),
            span_ns: 0,
            implementations: Vec::new(),
            times: vec![times("a", 1.0), times("b", 2.0)],
        };
        let cells = kernel_cells(&record);
        assert!((cells[0].ns_per_block - 101.0).abs() < 0.2, "{cells:?}");
        assert!((cells[0].mb_per_s - 40_554.0).abs() < 100.0, "{cells:?}");
        assert!(cells[0].versus_first.is_none());
        let effect = cells[1].versus_first.unwrap();
        assert!((effect.ratio - 1.99).abs() < 0.01, "{effect:?}");
        let of_figures = cells[1].ns_per_block / cells[0].ns_per_block;
        assert!((effect.ratio / of_figures - 1.0).abs() < 1e-12, "{cells:?}");
        assert_eq!(effect.verdict, stats::Verdict::Above);
        let interval = cells[1].interval.unwrap();
        assert!(interval.low < 201.0 && interval.high > 201.0, "{interval:?}");
    }
}
