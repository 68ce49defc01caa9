//! The profiles of one variant in one step.

use model::{Profile, ProfileTarget};

use crate::explain::Wait;
use crate::metrics::TargetCpu;

/// One run's profile of the step, and its CPU.
#[derive(Debug, Clone, Copy)]
pub struct ProfiledRun<'a> {
    /// The samples.
    pub profile: &'a Profile,
    /// The CPU that the samples divide.
    pub cpu: TargetCpu,
}

/// The runs of one variant in one step.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// The variant.
    pub name: String,
    /// Its runs with a profile.
    pub runs: Vec<ProfiledRun<'a>>,
    /// What its operations waited for; empty where it is unknown.
    pub waits: Vec<Wait>,
}

impl Side<'_> {
    /// Returns the cost of one sample of a target, us per operation: the mean CPU of the runs over
    /// the samples of all, so that a run with more samples weighs more.
    ///
    /// `None` without samples, and where the CPU of a run is unknown.
    pub(super) fn us_per_sample(&self, target: ProfileTarget) -> Option<f64> {
        let of_target = || self.runs.iter().filter(|run| run.profile.samples(target) > 0);
        let samples = of_target().map(|run| run.profile.samples(target));
        let samples: u64 = samples.fold(0, u64::saturating_add);
        let cpu: Option<f64> = of_target().map(|run| run.cpu.of(target)).sum();
        let mean = cpu? / model::float(of_target().count());
        Some(mean / model::float(samples)).filter(|us| us.is_finite() && *us > 0.0)
    }

    /// Returns the samples of all runs.
    pub fn samples(&self) -> u64 {
        let of_run = |run: &ProfiledRun<'_>| -> u64 {
            ProfileTarget::ALL
                .map(|target| run.profile.samples(target))
                .into_iter()
                .fold(0, u64::saturating_add)
        };
        self.runs.iter().map(of_run).fold(0, u64::saturating_add)
    }
}
