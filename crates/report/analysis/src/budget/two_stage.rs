//! Stein's two-stage procedure: a pilot, then the repetitions for a precision.

use model::{Experiment, RunRecord, StepClients, metric};
use stats::CellVariance;
use stats::distribution::student;
use stats::planning::runs_needed;

use super::pilot::pair;
use crate::primary::primary;
use crate::samples::step_samples;

/// The metric of steps that only wait for the engine; it needs no precision.
const SETTLING: &str = metric::SETTLE_S.name;

/// Pilot noise of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Piloted {
    /// Position of the step in the run, 0-based.
    pub index: u32,
    /// The step's name.
    pub step: String,
    /// Level of the clients factor, and the step's clients.
    pub clients: StepClients,
    /// The variant that is compared with the base.
    pub variant: String,
    /// The step's primary metric.
    pub metric: &'static str,
    /// Variance of ln(metric) from run to run, and its degrees of freedom.
    pub noise: CellVariance,
    /// Fewest runs of the two variants; fewest loads, where runs share several.
    pub runs: u32,
    /// Repetitions that share a load, where runs share several; 1 elsewhere.
    pub runs_per_load: u32,
}

/// Returns the pilot noise of each comparison with the base.
///
/// A comparison in which a variant has no runs, or none was repeated, is left out, and so are
/// steps that only prepare others.
pub fn piloted(experiment: &Experiment, runs: &[RunRecord]) -> Vec<Piloted> {
    let counted = step_samples(runs, &experiment.data, experiment.application.as_ref());
    let mut all = Vec::new();
    let steps = counted.iter().filter(|(key, _)| !experiment.is_preparatory(&key.name));
    for (key, samples) in steps {
        let is_named = |metric: &str| experiment.answer.iter().any(|name| name == metric);
        let metric = primary(samples, experiment, &key.name)
            .filter(|metric| *metric != SETTLING || is_named(metric));
        let Some(metric) = metric else { continue };
        let others = experiment.variants.iter().filter(|one| one.name != experiment.base);
        all.extend(others.filter_map(|variant| {
            let found = pair(samples, metric, &[&experiment.base, &variant.name]);
            let (noise, runs) = found.filter(|(_, fewest)| *fewest > 0)?;
            Some(Piloted {
                index: key.index,
                step: key.name.clone(),
                clients: experiment.clients_of(key.index, key.clients),
                variant: variant.name.clone(),
                metric,
                noise,
                runs,
                runs_per_load: runs_per_load(experiment),
            })
        }));
    }
    all
}

/// Returns the repetitions that share a load, where there are several loads.
fn runs_per_load(experiment: &Experiment) -> u32 {
    let runs = experiment.load.runs_per_load.unwrap_or(1).max(1);
    let has_several = experiment.load_number(experiment.repetitions).is_some_and(|last| last > 1);
    if has_several && !experiment.load.is_fresh() { runs } else { 1 }
}

impl Piloted {
    /// Returns the coefficient of variation from run to run, as a share.
    pub fn run_cov(&self) -> f64 {
        stats::detectable::cov_of(self.noise.variance)
    }

    /// Returns the repetitions for a half-width of the ratio's 95 % interval.
    ///
    /// At least those of the pilot; the half-width is a share.
    ///
    /// Source: [Stein 1945]; [`runs_needed`].
    pub fn repetitions(&self, half_width: f64) -> u32 {
        let drawn = runs_needed(self.noise, self.runs, half_width.ln_1p());
        drawn.saturating_mul(self.runs_per_load)
    }

    /// Returns the half-width after so many repetitions, as a share.
    ///
    /// It uses the pilot's variance: the number of runs depends on it, and only so does the
    /// interval have its coverage. Source: [Stein 1945].
    pub fn half_width(&self, repetitions: u32) -> f64 {
        let drawn = f64::from((repetitions / self.runs_per_load).max(1));
        let error = (2.0 * self.noise.variance / drawn).sqrt();
        (student::half_width(0.95, self.noise.df) * error).exp_m1()
    }
}
