//! Half-widths of an experiment with blocks on several machines.

use model::{Experiment, RunRecord, float};
use serde::Serialize;
use stats::machines::half_width_of;

use super::design::half_width;
use super::pilot::StepNoise;
use crate::compare;
use crate::noise::NoiseHistory;

/// How far the ratios of an earlier fleet differed between machines.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MachineDeviation {
    /// Standard deviation of a ratio between machines, a share: the root of the mean variance.
    ///
    /// Of fewer than five machines it is an upper bound of 80 %.
    pub cov: f64,
    /// Machines of that fleet.
    pub machines: usize,
}

/// Returns the deviation between the machines of runs, over the metrics of their question.
///
/// `None` below two machines, and where no machine repeated a block.
///
/// Source: variances of equal designs are averaged [Snedecor Cochran 1989, section 5.11].
pub fn machine_deviation(experiment: &Experiment, runs: &[RunRecord]) -> Option<MachineDeviation> {
    let none = NoiseHistory::default();
    let comparison = compare(runs, experiment, &experiment.base, &none).ok()?;
    let factor = comparison.machines?;
    let known = factor.ratios.iter().filter(|one| one.between.is_some());
    let squares: Vec<f64> = known.map(|one| one.planned.powi(2)).collect();
    let machines = factor.machines.len();
    let mean = squares.iter().sum::<f64>() / float(squares.len());
    (!squares.is_empty()).then(|| MachineDeviation { cov: mean.sqrt(), machines })
}

/// Returns the half-width of the widest 95 % interval to expect, a share; `None` without noise.
///
/// `blocks` are spread over `machines` as evenly as possible; `between` is the deviation of ratios
/// between machines, a share. On one machine the interval is about that machine alone.
///
/// Source: variance of a machine's mean = variance between machines + variance of a block / blocks
/// [Burdick Graybill 1992, section 3.1].
pub fn half_width_on(noise: &[StepNoise], blocks: u32, machines: u32, between: f64) -> Option<f64> {
    let of_one = |one: &StepNoise| match machines {
        0 | 1 => half_width(one, blocks),
        _ => {
            let within = 2.0 * one.variance() * per_block(blocks, machines);
            half_width_of(stats::detectable::log_variance_of(between) + within, machines)
        }
    };
    noise.iter().map(of_one).reduce(f64::max)
}

/// Returns the mean over machines of 1 / its blocks.
fn per_block(blocks: u32, machines: u32) -> f64 {
    let (least, more) = (blocks / machines, blocks % machines);
    let few = f64::from(machines - more) / f64::from(least.max(1));
    let many = f64::from(more) / f64::from(least + 1);
    (few + many) / f64::from(machines)
}

#[cfg(test)]
mod tests {
    use model::{Host, Machine, StepClients};

    use super::*;
    use crate::budget::Origin;
    use crate::testing::{experiment, run};

    fn noise(cov: f64) -> StepNoise {
        StepNoise {
            index: 0,
            step: "readrandom".to_owned(),
            clients: StepClients { level: 1, number: 1 },
            variant: "new".to_owned(),
            metric: "throughput_ops_per_s",
            between: cov * cov,
            within: None,
            prior_df: 0.0,
            origin: Origin::Assumed,
            length: None,
            warmup_trim_s: 0.0,
        }
    }

    #[test]
    fn half_width_falls_with_machines_and_grows_with_their_deviation() {
        let all = [noise(0.01), noise(0.02)];
        let on = |machines, between| half_width_on(&all, 12, machines, between).unwrap();
        // Two machines of six blocks: t at one degree is 12.706.
        let two = 12.706_205 * (2.0 * 0.0004 / 6.0 / 2.0_f64).sqrt();
        assert!((on(2, 0.0).ln_1p() - two).abs() < 1e-6, "{}", on(2, 0.0));
        assert!(on(3, 0.0) < on(2, 0.0) && on(6, 0.0) < on(3, 0.0) && on(6, 0.02) > on(6, 0.0));
        assert!(on(1, 0.0) < on(2, 0.0), "it holds for one machine only");
        assert!((on(1, 0.02) - on(1, 0.0)).abs() < 1e-12);
        // Five blocks on three machines: 2, 2 and 1.
        assert!((per_block(5, 3) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn deviation_is_that_of_a_fleet() {
        let on = |machine: &str, variant: &str, repetition, ops| {
            let machine = Machine { name: machine.to_owned(), host: Host::default() };
            RunRecord { machine: Some(Box::new(machine)), ..run(variant, repetition, ops) }
        };
        let ratios = [("n1", 1_100), ("n1", 1_110), ("n2", 1_000), ("n2", 1_010)];
        let block = |(repetition, (machine, ops)): (u32, &(&str, u64))| {
            [on(machine, "base", repetition, 1_000), on(machine, "new", repetition, *ops)]
        };
        let runs: Vec<RunRecord> = (1..).zip(&ratios).flat_map(block).collect();
        let spec = experiment(&["base", "new"], 4);
        let found = machine_deviation(&spec, &runs).unwrap();
        // ln 1.105 - ln 1.005: a deviation of 6.7 %, of one degree, and the bound of 80 %.
        assert!((found.cov - 0.27).abs() < 1e-2 && found.machines == 2, "{found:?}");
        let local: Vec<RunRecord> =
            runs.into_iter().map(|run| RunRecord { machine: None, ..run }).collect();
        assert_eq!(machine_deviation(&spec, &local), None);
    }
}
