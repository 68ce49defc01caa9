//! The answer on one screen: what `run` prints at its end.

use analysis::Comparison;

use super::sweep::plain_tables;
use super::tables::runs_table;
use super::text::{fill, trouble};
use crate::format::Style;
use crate::label::{range_legend, sign_legend};
use crate::meta::Meta;
use crate::table::Table;

/// Returns throughput and ratio per step with what whole runs cost, legends and doubts.
///
/// Bytes written per byte put are those of the whole process over all steps, log included: the
/// one definition that is the same for every engine.
#[must_use]
pub fn render_answer(comparison: &Comparison, meta: &Meta, style: Style) -> String {
    let mut tables = plain_tables(comparison);
    tables.push(runs_table(comparison));
    let text = |table: &Table| table.text(style.width, style.has_colour);
    let mut parts: Vec<String> = tables.iter().map(text).filter(|it| !it.is_empty()).collect();
    let mut legend = vec![meta.durability.clone(), range_legend(comparison)];
    if comparison.variants.len() > 1 {
        legend.insert(0, sign_legend());
    }
    let legend: Vec<String> = legend.iter().map(|line| fill(line, style.width)).collect();
    parts.push(legend.join("\n"));
    parts.extend(trouble(comparison, meta, style.width));
    parts.join("\n\n") + "\n"
}
