//! Sentences on how much of a device's rate a step uses.

use analysis::StorageUse;
use model::{DeviceRecord, IoTest, Unit};

use crate::document::{Document, Part};
use crate::figure::{figure, percent};
use crate::format::{Format, Style};

/// Returns a sentence for each use, below the name of its step.
pub fn render_storage_uses(
    profile: &DeviceRecord,
    uses: &[(String, StorageUse)],
    format: Format,
    style: Style,
) -> String {
    let sentence = |(step, of): &(String, StorageUse)| {
        let what = if of.test == IoTest::FDATASYNC_4K { "flushes" } else { "device reads" };
        format!(
            "{step}, {}: {} {what}/s, {} of what this device does with {} jobs ({}, O_DIRECT: {}/s)",
            of.variant,
            figure(Unit::OpsPerSecond, of.per_s),
            percent(of.share()),
            of.jobs,
            of.test,
            figure(Unit::OpsPerSecond, of.limit_per_s),
        )
    };
    let mut document = Document::default();
    document.add([
        Part::Heading(2, "Storage".to_owned()),
        Part::Sentences(uses.iter().map(sentence).collect()),
        Part::Note(format!("profile {}: assay device show {0}", profile.id)),
    ]);
    document.render(format, style)
}

#[cfg(test)]
mod tests {
    use model::{DEVICE_SCHEMA, Host};

    use super::*;

    #[test]
    fn a_use_is_a_share_of_the_profile() {
        let profile = DeviceRecord {
            schema: DEVICE_SCHEMA,
            id: "20261123T000000Z-0001".to_owned(),
            created_at: String::new(),
            assay_version: String::new(),
            fio_version: String::new(),
            host: Host::default(),
            targets: Vec::new(),
            run_s: 1,
            repetitions: 6,
            cells: Vec::new(),
            steady: Vec::new(),
            is_complete: true,
        };
        let of = StorageUse {
            variant: "lmdb".to_owned(),
            test: IoTest::RANDREAD_4K,
            per_s: 6100.0,
            limit_per_s: 1e4,
            jobs: 4,
        };
        let uses = [("readrandom".to_owned(), of)];
        let text = render_storage_uses(&profile, &uses, Format::Text, Style::default());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = "readrandom, lmdb: 6.10 k device reads/s, 61 % of what this device does with \
                        4 jobs (randread-4k, O_DIRECT: 10.0 k/s)";
        assert!(text.contains(expected), "{text}");
    }
}
