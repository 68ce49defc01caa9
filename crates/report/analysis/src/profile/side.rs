//! The profiles of one variant in one step.

use std::collections::BTreeSet;

use model::{Profile, ProfileRecord, ProfileTarget, StepRecord};

use crate::explain::Wait;
use crate::metrics::target_cpu;

/// One run's profile of the step.
#[derive(Debug, Clone, Copy)]
pub struct ProfiledRun<'a> {
    /// The samples.
    pub profile: &'a Profile,
    /// The step: the CPU that the samples divide, and how they were taken.
    pub step: &'a StepRecord,
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
        let sampled = || self.runs.iter().filter(|run| run.profile.samples(target) > 0);
        let samples = sampled().map(|run| run.profile.samples(target));
        let samples = samples.fold(0, u64::saturating_add);
        let cpu: Option<f64> = sampled().map(|run| target_cpu(run.step, target)).sum();
        let us = cpu? / model::float(sampled().count()) / model::float(samples);
        Some(us).filter(|us| us.is_finite() && *us > 0.0)
    }

    /// Returns the samples of all runs.
    pub fn samples(&self) -> u64 {
        let stacks = self.runs.iter().flat_map(|run| run.profile.stacks());
        stacks.map(|stack| stack.samples).fold(0, u64::saturating_add)
    }
}

/// Returns the ways in which a target was sampled, where they differ between runs.
///
/// Shares of samples depend on the event, the frequency and how callers were found.
pub fn sampled_differently<'a>(
    runs: impl IntoIterator<Item = &'a ProfiledRun<'a>> + Clone,
    targets: &[ProfileTarget],
) -> Option<String> {
    let ways = |target: &ProfileTarget| -> BTreeSet<String> {
        let records = runs.clone().into_iter().filter_map(|run| run.step.profile(*target));
        records.map(ProfileRecord::way).collect()
    };
    let different = targets.iter().map(ways).find(|ways| ways.len() > 1)?;
    Some(different.into_iter().collect::<Vec<_>>().join(", and "))
}
