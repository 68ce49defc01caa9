//! The memory part of one run.

use model::{DataShape, RunRecord};

use super::classes::{classes, most_wasted};
use super::reading::reading;
use super::table::{Row, allocator, table};
use crate::comparison::fill;
use crate::format::Style;

/// Returns the part on memory; `None` when no allocator was recorded.
pub(crate) fn memory(run: &RunRecord, data: &DataShape, style: Style) -> Option<String> {
    let malloc = run.steps.iter().find_map(|step| step.malloc.as_ref())?;
    let steps = run.steps.iter();
    let rows: Vec<Row<'_>> =
        steps.map(|step| Row { names: vec![&step.step.name], run, step }).collect();
    let cache = run.variant.settings.cache_bytes;
    let cache = cache.map_or(String::new(), |cache| format!("; requested cache {cache}"));
    let head = format!("Memory at the end of each step: {}{cache}", allocator(malloc));
    let mut parts = vec![
        fill(&head, style.width),
        table(&["step"], &rows, data).text(style.width, style.has_colour),
    ];
    if let Some((step, malloc)) = most_wasted(run) {
        let name = &step.step.name;
        if !malloc.bins.is_empty() {
            let classes = classes(&malloc.bins).text(style.width, style.has_colour);
            parts.push(format!("\nSize classes of {} after {name}\n{classes}", malloc.allocator));
        }
        let reading = reading(step).map(|reading| format!("After {name}, {reading}"));
        parts.extend(reading.map(|reading| fill(&reading, style.width)));
    }
    Some(parts.join("\n"))
}
