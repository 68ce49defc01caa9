//! The list of stored profiles.

use model::DeviceRecord;
use serde::Serialize;

use crate::document::{Document, Part, Table};
use crate::format::{Format, Style};
use crate::report::Report;

/// Stored profiles, oldest first.
impl Report for [DeviceRecord] {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut table = Table::new(["<profile", "<storage", "<file system", "runs", "<host"]);
        for profile in self.iter().map(listed) {
            let none = |text: &Option<&str>| text.unwrap_or("none").to_owned();
            let systems: Vec<_> = profile.file_systems.iter().map(none).collect();
            let mark = if profile.is_complete { "" } else { " (incomplete)" };
            table.push([
                profile.id.to_owned(),
                profile.storage.join(", "),
                systems.join(", "),
                format!("{}{mark}", profile.runs),
                profile.host.to_owned(),
            ]);
        }
        Document::from([vec![Part::Table(table)]])
    }

    fn data(&self) -> impl Serialize {
        self.iter().map(listed).collect::<Vec<_>>()
    }
}

/// One profile in a list.
#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    created_at: &'a str,
    storage: Vec<&'a str>,
    file_systems: Vec<Option<&'a str>>,
    runs: usize,
    is_complete: bool,
    host: &'a str,
}

fn listed(record: &DeviceRecord) -> Listed<'_> {
    Listed {
        id: &record.id,
        created_at: &record.created_at,
        storage: record.targets.iter().map(|target| target.path.as_str()).collect(),
        file_systems: record.targets.iter().map(|target| target.filesystem.as_deref()).collect(),
        runs: record.cells.iter().map(|cell| cell.samples.len()).sum(),
        is_complete: record.is_complete,
        host: &record.host.fingerprint,
    }
}
