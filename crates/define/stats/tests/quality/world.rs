//! Simulated runs with known truth.

use std::num::NonZero;
use std::thread;

use stats::prior::fit;
use stats::testing::Noise;
use stats::{CellVariance, Design, Effect, Prior, Verdict};

/// How runs of one cell differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Lognormal.
    Plain,
    /// Lognormal, and 15 % of the runs are slower by four times the coefficient of variation.
    SlowRuns,
}

pub(crate) const SHAPES: [Shape; 2] = [Shape::Plain, Shape::SlowRuns];

impl Shape {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "lognormal",
            Self::SlowRuns => "15 % slow runs",
        }
    }
}

/// One cell: the level and the noise of its runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub level: f64,
    pub sigma: f64,
    pub shape: Shape,
}

impl Cell {
    pub(crate) fn run(&self, noise: &mut Noise) -> f64 {
        let is_slow = self.shape == Shape::SlowRuns && noise.uniform() < 0.15;
        let slower = if is_slow { 4.0 * self.sigma } else { 0.0 };
        self.level * (self.sigma * noise.normal() - slower).exp()
    }

    pub(crate) fn runs(&self, count: usize, noise: &mut Noise) -> Vec<f64> {
        (0..count).map(|_| self.run(noise)).collect()
    }

    /// Returns the same cell, higher by this on the logarithm.
    pub(crate) fn shifted(self, by: f64) -> Self {
        Self { level: self.level * by.exp(), ..self }
    }

    /// Returns runs of this cell and of the same one shifted, in blocks that share half the
    /// variance when they are `paired`.
    pub(crate) fn both(
        self,
        count: usize,
        by: f64,
        paired: bool,
        noise: &mut Noise,
    ) -> (Vec<f64>, Vec<f64>) {
        let share = if paired { 0.5_f64.sqrt() } else { 1.0 };
        let own = Self { sigma: self.sigma * share, ..self };
        let (mut base, mut other) = (own.runs(count, noise), own.shifted(by).runs(count, noise));
        if paired {
            for (base, other) in base.iter_mut().zip(&mut other) {
                let block = (own.sigma * noise.normal()).exp();
                *base *= block;
                *other *= block;
            }
        }
        (base, other)
    }
}

/// Returns the noise of one of the cells around a typical noise, from 0.5 to 5 %.
///
/// The standard deviation of ln(sigma) is 0.4: our choice, cells then differ by about a factor of
/// two.
pub(crate) fn sigma_near(typical: f64, noise: &mut Noise) -> f64 {
    (typical * (0.4 * noise.normal()).exp()).clamp(0.005, 0.05)
}

/// Returns the typical noise of a machine: from 0.5 to 5 %, each factor as likely as any.
pub(crate) fn typical_sigma(noise: &mut Noise) -> f64 {
    0.005 * 10.0_f64.powf(noise.uniform())
}

/// Returns the variances of forty earlier cells: two variants of three runs each.
pub(crate) fn noise_history(typical: f64, shape: Shape, noise: &mut Noise) -> Vec<CellVariance> {
    let mut one = || {
        let cell = Cell { level: 1.0, sigma: sigma_near(typical, noise), shape };
        let mut variance = || CellVariance::of(&cell.runs(3, noise)).unwrap();
        variance().pooled(variance())
    };
    (0..40).map(|_| one()).collect()
}

/// Returns the prior of forty earlier cells.
pub(crate) fn prior(typical: f64, shape: Shape, noise: &mut Noise) -> Prior {
    fit(&noise_history(typical, shape, noise)).unwrap()
}

/// Returns the design of a comparison.
pub(crate) const fn design(margin: f64, prior: Option<&Prior>, is_paired: bool) -> Design<'_> {
    Design { margin, prior, is_paired, assumed_cov: 0.025 }
}

/// Returns whether a difference is established.
pub(crate) fn is_significant(effect: &Effect) -> bool {
    matches!(effect.verdict, Verdict::Above | Verdict::Below | Verdict::SmallButReal)
}

/// Simulates each seed, on all cores; results are in the order of the seeds.
pub(crate) fn simulate<T: Send>(seeds: u64, one: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let part = seeds.div_ceil(cores);
    thread::scope(|scope| {
        let spawn = |core: u64| {
            let one = &one;
            let of_core = core * part..((core + 1) * part).min(seeds);
            scope.spawn(move || of_core.map(one).collect::<Vec<T>>())
        };
        let threads: Vec<_> = (0..cores).map(spawn).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Returns a stream of its own for a seed of one simulation.
pub(crate) fn stream(simulation: u64, seed: u64) -> Noise {
    let mut noise = Noise::new((simulation << 40) ^ seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
    noise.uniform();
    noise
}

/// A share of simulated cases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub value: f64,
    /// Its standard error in the simulation.
    pub error: f64,
}

impl Share {
    pub(crate) fn of(hits: usize, all: usize) -> Self {
        let value = hits as f64 / all as f64;
        Self { value, error: (value * (1.0 - value) / all as f64).sqrt() }
    }

    pub(crate) fn of_true(cases: &[bool]) -> Self {
        Self::of(cases.iter().filter(|case| **case).count(), cases.len())
    }

    pub(crate) fn percent(self) -> f64 {
        self.value * 100.0
    }
}
