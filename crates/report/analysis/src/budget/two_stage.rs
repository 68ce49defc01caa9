//! Stein's two stages: a pilot tells how many repetitions reach a precision; then they are made.

use model::{Experiment, RunRecord};
use stats::CellVariance;
use stats::distribution::student;
use stats::planning::runs_needed;

use super::pilot::pair;
use crate::arms::Counted;
use crate::compare::primary;

/// The metric of steps that only wait for the engine: nobody asks for it to a hundredth.
const SETTLING: &str = "settle_s";

/// What a pilot tells of the noise of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Piloted {
    /// Position of the step in the run, 0-based.
    pub index: u32,
    /// The step's name.
    pub step: String,
    /// Level of the clients factor.
    pub clients: u32,
    /// The variant that is compared with the base.
    pub variant: String,
    /// The metric that the step's verdict is about.
    pub metric: &'static str,
    /// Variance of ln(metric) from run to run, and its degrees of freedom.
    pub noise: CellVariance,
    /// Fewest runs of the two variants.
    pub runs: u32,
}

/// Returns what the runs of a pilot tell of each comparison with the base.
///
/// A comparison in which a variant has no runs, or none was repeated, is left out.
#[must_use]
pub fn piloted(experiment: &Experiment, runs: &[RunRecord]) -> Vec<Piloted> {
    let counted = Counted::of(runs, &experiment.data, experiment.application.as_ref());
    let mut all = Vec::new();
    for (key, arms) in &counted.steps {
        let metric = primary(arms, experiment.placement).filter(|metric| *metric != SETTLING);
        let Some(metric) = metric else { continue };
        let others = experiment.variants.iter().filter(|one| one.name != experiment.base);
        all.extend(others.filter_map(|variant| {
            let found = pair(arms, metric, &[&experiment.base, &variant.name]);
            let (noise, runs) = found.filter(|(_, fewest)| *fewest > 0)?;
            Some(Piloted {
                index: key.index,
                step: key.name.clone(),
                clients: key.clients,
                variant: variant.name.clone(),
                metric,
                noise,
                runs,
            })
        }));
    }
    all
}

impl Piloted {
    /// Returns the coefficient of variation from run to run, as a share.
    #[must_use]
    pub fn run_cov(&self) -> f64 {
        stats::detectable::cov_of(self.noise.variance)
    }

    /// Returns the repetitions that make the 95 % interval of the ratio this narrow, half of it as
    /// a share: those of the pilot at least.
    ///
    /// Source: [`runs_needed`].
    #[must_use]
    pub fn repetitions(&self, half_width: f64) -> u32 {
        runs_needed(self.noise, self.runs, half_width.ln_1p())
    }

    /// Returns half the width of the interval after so many repetitions, as a share.
    ///
    /// It is that of the pilot's noise: the runs that follow were chosen by it, and only so the
    /// interval holds the truth in 95 of 100 experiments. Source: as [`Self::repetitions`].
    #[must_use]
    pub fn half_width(&self, repetitions: u32) -> f64 {
        let error = (2.0 * self.noise.variance / f64::from(repetitions)).sqrt();
        (student::half_width(0.95, self.noise.df) * error).exp_m1()
    }
}
