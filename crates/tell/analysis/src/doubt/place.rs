//! Where doubts about steps belong: one for each variant and step, over all runs.

use std::collections::BTreeMap;

use model::{RunRecord, StepRecord};

/// Variant and step: what doubts about steps are grouped by.
pub(super) type Place = (String, String);

/// Groups what `look` finds in the runs' steps by variant and step.
pub(super) fn by_place<T>(
    runs: &[&RunRecord],
    look: impl Fn(&StepRecord) -> Option<T>,
) -> BTreeMap<Place, Vec<T>> {
    let mut found: BTreeMap<Place, Vec<T>> = BTreeMap::new();
    for (run, step) in runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))) {
        if let Some(seen) = look(step) {
            let place = (run.cell.variant.clone(), step.step.name.clone());
            found.entry(place).or_default().push(seen);
        }
    }
    found
}

/// Returns a number of runs in words.
pub(super) fn runs_of(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}
