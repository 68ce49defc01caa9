//! The list of stored profiles.

use model::{DeviceRecord, DeviceTarget};

use crate::document::{Document, Part, Table};
use crate::format::{Format, Style};

/// Returns the stored profiles as a table, oldest first.
pub fn render_devices(records: &[DeviceRecord], style: Style) -> String {
    let mut table = Table::new(["<profile", "<storage", "<file system", "runs", "<host"]);
    for record in records {
        let of = |text: &dyn Fn(&DeviceTarget) -> String| {
            record.targets.iter().map(text).collect::<Vec<_>>().join(", ")
        };
        let runs: usize = record.cells.iter().map(|cell| cell.samples.len()).sum();
        let mark = if record.is_complete { "" } else { " (incomplete)" };
        table.push([
            record.id.clone(),
            of(&|target| target.path.clone()),
            of(&|target| target.filesystem.clone().unwrap_or_else(|| "none".to_owned())),
            format!("{runs}{mark}"),
            record.host.fingerprint.clone(),
        ]);
    }
    let mut document = Document::default();
    document.add([Part::Table(table)]);
    document.render(Format::Text, style)
}
