//! Sentences on how much of a device's rate a step uses.

use std::collections::BTreeSet;

use analysis::StorageUse;
use model::{IoTest, ShellCommand, Unit};

use crate::document::Part;
use crate::figure::{figure, percent};
use model::units::many;

/// Returns a sentence for each use, and where the profile is.
pub(crate) fn storage_uses(uses: &[StorageUse]) -> impl Iterator<Item = Part> {
    let profiles: BTreeSet<&str> = uses.iter().map(|of| of.profile.as_str()).collect();
    let command = |id: &str| ShellCommand::of("assay device show").operands([id]);
    let note = |id: &str| Part::Note(format!("profile {id}: {}", command(id)));
    let notes: Vec<Part> = profiles.into_iter().map(note).collect();
    [Part::Sentences(uses.iter().map(sentence).collect())].into_iter().chain(notes)
}

fn sentence(of: &StorageUse) -> String {
    let what = if of.test == IoTest::FDATASYNC_4K { "flushes" } else { "device reads" };
    format!(
        "{} with {}, {}: {} {what}/s, {} of what this device does with {} ({}, O_DIRECT: {}/s)",
        of.step,
        of.clients,
        of.variant,
        figure(Unit::OpsPerSecond, of.per_s),
        percent(of.share),
        many(of.jobs as usize, "job"),
        of.test,
        figure(Unit::OpsPerSecond, of.limit_per_s),
    )
}

#[cfg(test)]
mod tests {
    use model::StepClients;

    use super::*;
    use crate::document::Document;
    use crate::style::Style;

    #[test]
    fn share_of_the_device_is_a_sentence() {
        let of = StorageUse {
            step_index: 0,
            step: "readrandom".to_owned(),
            clients: StepClients { level: 4, number: 4 },
            variant: "lmdb".to_owned(),
            test: IoTest::RANDREAD_4K,
            per_s: 6_100.0,
            limit_per_s: 10_000.0,
            jobs: 4,
            share: 0.61,
            profile: "20261123T120000Z-1".to_owned(),
        };
        let mut document = Document::default();
        document.add(storage_uses(&[of]));
        let text = document.text(Style::default());
        let sentence = "readrandom with 4 clients, lmdb: 6.10 k device reads/s, 61 % of what this \
                        device does with 4 jobs (randread-4k, O_DIRECT: 10.0 k/s)";
        assert!(text.replace('\n', " ").contains(sentence), "{text}");
        assert!(text.contains("assay device show 20261123T120000Z-1"), "{text}");
    }
}
