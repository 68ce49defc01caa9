//! The list of stored profiles.

use model::DeviceRecord;
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Document, Part, Table};
use crate::format::{Format, Style};
use crate::report::Report;

/// Stored profiles, oldest first.
impl Report for [DeviceRecord] {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut table = Table::new(["<profile", "<storage", "<file system", "runs", "<host"]);
        for one in self {
            let paths: Vec<&str> = one.targets.iter().map(|it| it.path.as_str()).collect();
            let systems = one.targets.iter().map(|it| it.filesystem.as_deref().unwrap_or("none"));
            let systems: Vec<&str> = systems.collect();
            let mark = if one.is_complete { "" } else { " (incomplete)" };
            let runs = format!("{}{mark}", runs(one));
            let (paths, systems) = (paths.join(", "), systems.join(", "));
            table.push([one.id.clone(), paths, systems, runs, one.host.fingerprint.clone()]);
        }
        Document::from([vec![Part::Table(table)]])
    }

    fn data(&self) -> impl Serialize {
        let profile = |one: &DeviceRecord| {
            let targets = || one.targets.iter();
            json!({
                "id": one.id,
                "created_at": one.created_at,
                "storage": targets().map(|target| target.path.as_str()).collect::<Value>(),
                "file_systems": targets().map(|it| json!(it.filesystem)).collect::<Value>(),
                "runs": runs(one),
                "is_complete": one.is_complete,
                "host": one.host.fingerprint,
            })
        };
        self.iter().map(profile).collect::<Value>()
    }
}

fn runs(record: &DeviceRecord) -> usize {
    record.cells.iter().map(|cell| cell.samples.len()).sum()
}
