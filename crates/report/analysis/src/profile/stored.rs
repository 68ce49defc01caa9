//! Stored profiles of a step's runs.

use std::collections::BTreeMap;

use model::{Profile, RunRecord, StepRecord};

use super::side::{ProfiledRun, Side};
use crate::explain::waiting;

/// The profile of one step of one run, as the archive has it.
#[derive(Debug, Clone, PartialEq)]
pub struct StepProfile {
    /// Identifier of the run, with its experiment.
    pub run: String,
    /// Index of the step.
    pub step: u32,
    /// The samples.
    pub profile: Profile,
}

impl StepProfile {
    /// Returns the profile of a run's step; `None` where none is stored.
    pub(crate) fn of<'a>(
        stored: &'a [Self],
        run: &RunRecord,
        step: &'a StepRecord,
    ) -> Option<ProfiledRun<'a>> {
        let own = stored.iter().find(|one| one.run == run.id && one.step == step.index)?;
        Some(ProfiledRun { profile: &own.profile, step })
    }

    /// Returns the profiles of a variant in a step, with the waits of their runs.
    pub fn side<'a>(stored: &'a [Self], runs: &'a [RunRecord], place: Place<'_>) -> Side<'a> {
        let profiled =
            |(run, step)| Self::of(stored, run, step).map(|profiled| (profiled, (run, step)));
        let (profiled, steps): (Vec<_>, Vec<_>) = place.steps(runs).filter_map(profiled).unzip();
        Side { name: place.variant.to_owned(), runs: profiled, waits: waiting(&steps) }
    }
}

/// A step of a variant.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The variant.
    pub variant: &'a str,
    /// Level of clients.
    pub clients: u32,
    /// Index of the step.
    pub step: u32,
}

impl<'p> Place<'p> {
    /// Returns the wanted step in which a variant has most samples; `None` where it has none.
    pub fn most_profiled(
        runs: &[RunRecord],
        variant: &'p str,
        is_wanted: impl Fn(&RunRecord, &StepRecord) -> bool,
    ) -> Option<Self> {
        let mut samples: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for run in runs.iter().filter(|run| run.is_counted() && run.cell.variant == variant) {
            for step in run.steps.iter().filter(|step| is_wanted(run, step)) {
                let all = samples.entry((step.index, run.cell.clients)).or_default();
                let counted = step.profiles.iter().filter(|profile| profile.refusal.is_none());
                counted.for_each(|profile| *all = all.saturating_add(profile.samples));
            }
        }
        let most = samples.into_iter().rev().max_by_key(|(_, samples)| *samples);
        most.map(|((step, clients), _)| Self { variant, clients, step })
    }

    /// Returns the counted runs of the place, each with its step.
    pub fn steps<'a>(
        self,
        runs: &'a [RunRecord],
    ) -> impl Iterator<Item = (&'a RunRecord, &'a StepRecord)> + use<'a, 'p> {
        let step = move |run: &'a RunRecord| {
            let is_cell = run.cell.variant == self.variant && run.cell.clients == self.clients;
            let step = run.steps.iter().find(|step| step.index == self.step)?;
            (is_cell && run.is_counted()).then_some((run, step))
        };
        runs.iter().filter_map(step)
    }
}

#[cfg(test)]
mod tests {
    use model::{ProfileRecord, ProfileTarget, Unwinder};

    use super::super::side::sampled_differently;
    use super::*;
    use crate::testing::{profile, run};

    /// Returns a stored profile of the first step of each run.
    fn stored(runs: &[RunRecord]) -> Vec<StepProfile> {
        let profile = Profile::parse("worker;client;a`f 2\n").unwrap();
        let of_run = |run: &RunRecord| (run.id.clone(), profile.clone());
        runs.iter()
            .map(of_run)
            .map(|(run, profile)| StepProfile { run, step: 0, profile })
            .collect()
    }

    #[test]
    fn a_side_has_the_runs_of_its_cell() {
        let runs = [run("a", 1, 1_000), run("a", 2, 1_000), run("b", 1, 1_000)];
        let mut profiles = stored(&runs);
        profiles.remove(1);
        let place = Place { variant: "a", clients: runs[0].cell.clients, step: 0 };
        let side = StepProfile::side(&profiles, &runs, place);
        assert_eq!((side.runs.len(), side.samples()), (1, 2));
        assert_eq!(side.runs[0].step, &runs[0].steps[0]);
        assert!(StepProfile::side(&profiles, &runs, Place { step: 1, ..place }).runs.is_empty());
    }

    #[test]
    fn the_wanted_step_with_most_samples_is_found() {
        let mut runs = [run("a", 1, 1_000), run("b", 1, 1_000)];
        let clients = runs[0].cell.clients;
        let mut second = runs[0].steps[0].clone();
        second.index = 1;
        second.profiles = vec![ProfileRecord { samples: 50, ..profile(ProfileTarget::Worker) }];
        runs[0].steps.push(second);
        let most = |is_wanted: fn(&RunRecord, &StepRecord) -> bool| {
            Place::most_profiled(&runs, "a", is_wanted).map(|place| (place.step, place.clients))
        };
        assert_eq!(most(|_, _| true), Some((1, clients)));
        assert_eq!(most(|_, step| step.index == 0), Some((0, clients)));
        assert_eq!(most(|_, _| false), None);
    }

    #[test]
    fn ways_of_sampling_are_compared() {
        let mut runs = [run("a", 1, 1_000), run("b", 1, 1_000)];
        for (run, unwinder) in runs.iter_mut().zip([Unwinder::Dwarf, Unwinder::FramePointers]) {
            let worker = ProfileRecord { unwinder, ..profile(ProfileTarget::Worker) };
            run.steps[0].profiles = vec![worker];
        }
        let profiles = stored(&runs);
        let differently = |runs: &[RunRecord], targets: &[ProfileTarget]| {
            let of_run = |run| StepProfile::of(&profiles, run, &run.steps[0]);
            sampled_differently(&runs.iter().filter_map(of_run).collect::<Vec<_>>(), targets)
        };
        assert_eq!(differently(&runs[..1], &ProfileTarget::ALL), None);
        let ways = "cpu-clock at 199 Hz by DWARF unwind tables, and \
                    cpu-clock at 199 Hz by frame pointers";
        assert_eq!(differently(&runs, &ProfileTarget::ALL).as_deref(), Some(ways));
        assert_eq!(differently(&runs, &[ProfileTarget::Server]), None);
        runs[1].steps[0].profiles[0].refusal = Some("no sample".to_owned());
        assert_eq!(differently(&runs, &ProfileTarget::ALL), None);
    }
}
