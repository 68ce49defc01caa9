//! The memory part of one run.

use model::{DataShape, RunRecord};

use super::classes::{classes, most_wasted, reading};
use super::table::{Row, allocator, is_recorded, table};
use crate::document::{Document, Part};

/// Returns the part on memory; empty when the engine's was not recorded.
pub(crate) fn memory(run: &RunRecord, data: &DataShape) -> Document {
    let mut document = Document::default();
    if !is_recorded(run) {
        return document;
    }
    let steps = run.steps.iter();
    let rows: Vec<Row<'_>> =
        steps.map(|step| Row { names: vec![&step.step.name], run, step }).collect();
    let cache = run.variant.settings.cache_bytes;
    let cache = cache.map_or(String::new(), |cache| format!("; requested cache {cache}"));
    let head = format!("Memory at the end of each step: {}{cache}", allocator(run));
    let mut parts = vec![Part::Text(head), Part::Table(table(&["step"], &rows, data))];
    if let Some((step, malloc)) = most_wasted(run) {
        let name = &step.step.name;
        if !malloc.bins.is_empty() {
            document.add(std::mem::take(&mut parts));
            let title = format!("Size classes of {} after {name}", malloc.allocator);
            parts = vec![Part::Text(title), Part::Table(classes(&malloc.bins))];
        }
        parts.extend(reading(step).map(|reading| Part::Text(format!("After {name}, {reading}"))));
    }
    document.add(parts);
    document
}
