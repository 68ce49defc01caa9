//! Stored profiles of a step's runs.

use std::collections::{BTreeMap, BTreeSet};

use model::{Profile, ProfileTarget, RunRecord, StepRecord};

use super::side::{ProfiledRun, Side};
use crate::explain::waiting;
use crate::metrics::target_cpu;

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

/// Returns index and clients of the step in which a variant has most samples; `None` without any.
pub fn most_profiled_step(runs: &[RunRecord], variant: &str) -> Option<(u32, u32)> {
    let mut samples: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_counted() && run.cell.variant == variant) {
        for step in &run.steps {
            let counted = step.profiles.iter().filter(|profile| profile.refusal.is_none());
            let of_step = counted.map(|profile| profile.samples).fold(0, u64::saturating_add);
            *samples.entry((step.index, run.cell.clients)).or_default() += of_step;
        }
    }
    let most = samples.into_iter().rev().max_by_key(|(_, samples)| *samples);
    most.filter(|(_, samples)| *samples > 0).map(|(place, _)| place)
}

impl StepProfile {
    /// Returns the profiles of a variant in a step, with the CPU and the waits of its runs.
    pub fn side<'a>(profiles: &'a [Self], runs: &[RunRecord], place: &Place<'_>) -> Side<'a> {
        let mut waited: Vec<(&RunRecord, &StepRecord)> = Vec::new();
        let mut profiled = Vec::new();
        for (run, step) in place.steps(runs) {
            let of_run = |one: &&Self| one.run == run.id && one.step == place.step;
            let Some(stored) = profiles.iter().find(of_run) else { continue };
            waited.push((run, step));
            profiled.push(ProfiledRun { profile: &stored.profile, cpu: target_cpu(step) });
        }
        Side { name: place.variant.to_owned(), runs: profiled, waits: waiting(&waited) }
    }
}

/// Returns why the profiles of these places cannot be compared: the ways of sampling that differ.
///
/// `None` where all were sampled in one way. Shares of samples depend on the event, the frequency
/// and how callers were found.
pub fn sampled_differently(runs: &[RunRecord], places: &[Place<'_>]) -> Option<String> {
    let ways = |target: ProfileTarget| -> BTreeSet<String> {
        let records = places.iter().flat_map(|place| place.steps(runs)).map(|(_, step)| step);
        let profiles = records.flat_map(|step| &step.profiles);
        let sampled = profiles.filter(|one| one.target == target && one.refusal.is_none());
        sampled
            .map(|one| format!("{} at {} Hz by {}", one.event, one.hz, one.unwinder.phrase()))
            .collect()
    };
    let different = ProfileTarget::ALL.map(ways).into_iter().find(|ways| ways.len() > 1)?;
    Some(different.into_iter().collect::<Vec<_>>().join(", and "))
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
    /// Returns the counted runs of the place, each with its step.
    pub fn steps<'a>(
        self,
        runs: &'a [RunRecord],
    ) -> impl Iterator<Item = (&'a RunRecord, &'a StepRecord)> + use<'a, 'p> {
        let of_cell = move |run: &&RunRecord| {
            let is_cell = run.cell.variant == self.variant && run.cell.clients == self.clients;
            is_cell && run.is_counted()
        };
        let step = move |run: &'a RunRecord| {
            let found = run.steps.iter().find(|step| step.index == self.step);
            found.map(|step| (run, step))
        };
        runs.iter().filter(of_cell).filter_map(step)
    }
}

#[cfg(test)]
mod tests {
    use model::{Nanos, ProfileRecord, Unwinder, metric};

    use super::*;
    use crate::testing::{readings, run};

    #[test]
    fn a_side_has_the_runs_of_its_cell_with_their_cpu() {
        let mut runs = [run("a", 1, 1_000), run("a", 2, 1_000), run("b", 1, 1_000)];
        for run in &mut runs {
            run.steps[0].counters = readings(&[
                (metric::PROCESS_CPU_USER_US, 3_000.0),
                (metric::PROCESS_CPU_KERNEL_US, 1_000.0),
            ]);
        }
        let profile = Profile::parse("worker;client;a`f 2\n").unwrap();
        let stored = |run: &RunRecord| StepProfile {
            run: run.id.clone(),
            step: 0,
            profile: profile.clone(),
        };
        let profiles = [stored(&runs[0]), stored(&runs[2])];
        let place = Place { variant: "a", clients: runs[0].cell.clients, step: 0 };
        let side = StepProfile::side(&profiles, &runs, &place);
        assert_eq!((side.runs.len(), side.samples()), (1, 2));
        assert_eq!(side.runs[0].cpu.worker_us, Some(4.0));
        assert_eq!(side.runs[0].cpu.server_us, None);
        let other = Place { step: 1, ..place };
        assert!(StepProfile::side(&profiles, &runs, &other).runs.is_empty());
        assert_eq!(most_profiled_step(&runs, "a"), None);
    }

    #[test]
    fn the_step_with_most_samples_is_found_and_ways_of_sampling_are_compared() {
        let mut runs = [run("a", 1, 1_000), run("b", 1, 1_000)];
        let clients = runs[0].cell.clients;
        for (run, unwinder) in runs.iter_mut().zip([Unwinder::Dwarf, Unwinder::FramePointers]) {
            run.steps[0].profiles = vec![ProfileRecord {
                target: ProfileTarget::Worker,
                event: "cpu-clock".to_owned(),
                hz: 199,
                unwinder,
                sample_cost_ns: Nanos(30_000),
                samples: 50,
                lost: 0,
                expected: None,
                rooted_share: None,
                storage_engine_share: None,
                kernel_note: None,
                refusal: None,
            }];
        }
        assert_eq!(most_profiled_step(&runs, "a"), Some((0, clients)));
        let [a, b] = ["a", "b"].map(|variant| Place { variant, clients, step: 0 });
        assert_eq!(sampled_differently(&runs, &[a]), None);
        let ways = "cpu-clock at 199 Hz by DWARF unwind tables, and \
                    cpu-clock at 199 Hz by frame pointers";
        assert_eq!(sampled_differently(&runs, &[a, b]).as_deref(), Some(ways));
        runs[1].steps[0].profiles[0].refusal = Some("no sample".to_owned());
        assert_eq!(sampled_differently(&runs, &[a, b]), None);
    }
}
