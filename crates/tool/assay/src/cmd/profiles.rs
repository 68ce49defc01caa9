//! Stored CPU profiles of a step.

use analysis::profile::{Place, StepProfile};
use archive::{ArchiveError, ExperimentDir, parallel_map, wrong_samples};
use model::RunRecord;

/// The profiles of a step, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct StoredProfiles {
    /// The profiles.
    pub(crate) profiles: Vec<StepProfile>,
    /// The profiles that are damaged, and why.
    pub(crate) damaged: Vec<ArchiveError>,
}

impl StoredProfiles {
    /// Returns what is damaged, and why.
    pub(crate) fn damage(&self) -> Vec<String> {
        self.damaged.iter().map(ToString::to_string).collect()
    }
}

/// Reads the profiles of a place's step in the counted runs of every variant at its level of
/// clients.
pub(crate) fn step_profiles<'a>(
    runs: &[RunRecord],
    place: Place<'_>,
    dir: impl Fn(&RunRecord) -> Option<&'a ExperimentDir> + Sync,
) -> StoredProfiles {
    let of_run = |run: &RunRecord| {
        let own =
            Place { variant: &run.cell.variant, ..place }.steps(std::slice::from_ref(run)).next();
        let Some(((_, record), dir)) = own.zip(dir(run)) else { return Ok(None) };
        let Some(profile) = dir.profile(&run.cell.id, record.index, &record.step.name)? else {
            return Ok(None);
        };
        if let Some(what) = wrong_samples(&profile, record) {
            let reason = format!("a profile of {}: {what}", record.step.name);
            return Err(ArchiveError::Damaged(dir.run_dir(&run.cell.id), reason));
        }
        Ok(Some(StepProfile { run: run.id.clone(), step: record.index, profile }))
    };
    let mut stored = StoredProfiles::default();
    for read in parallel_map(runs, of_run) {
        match read {
            Ok(profile) => stored.profiles.extend(profile),
            Err(error) => stored.damaged.push(error),
        }
    }
    stored
}

/// Reads the profiles that a page shows: of the step in which the base has most samples.
pub(crate) fn page_profiles<'a>(
    runs: &[RunRecord],
    base: &str,
    dir: impl Fn(&RunRecord) -> Option<&'a ExperimentDir> + Sync,
) -> StoredProfiles {
    let place = Place::most_profiled(runs, base, |_, _| true);
    place.map_or_else(StoredProfiles::default, |place| step_profiles(runs, place, dir))
}
