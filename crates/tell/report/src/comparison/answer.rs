//! The answer on one screen: what `run` prints at its end.

use super::text::{fill, trouble};
use super::{open, search, sweep};
use crate::comparison::tables::runs_table;
use crate::format::Style;
use crate::input::Compared;
use crate::label::{range_legend, sign_legend};
use crate::table::Table;

/// Returns each step's figure and ratio with what whole runs cost, what open loops, searches and
/// sweeps showed, legends and doubts.
///
/// Bytes written per byte put are those of the whole process over all steps, log included: the
/// one definition that is the same for every engine.
#[must_use]
pub fn render_answer(compared: &Compared<'_>, style: Style) -> String {
    let (comparison, meta) = (compared.comparison, compared.meta);
    let words = |line: &String| fill(line, style.width);
    let text = |table: &Table| table.text(style.width, style.has_colour);
    let mut parts = Vec::new();
    for part in sweep::parts(compared) {
        let sentences = part.sentences.iter().map(words);
        let lines: Vec<String> = sentences.chain(part.tables.iter().map(text)).collect();
        parts.push(lines.join("\n"));
    }
    parts.push(text(&runs_table(comparison)));
    let told = open::parts(compared).into_iter().chain(search::parts(compared));
    let told: Vec<String> = told.flat_map(|part| part.sentences).map(|it| words(&it)).collect();
    parts.push(told.join("\n"));
    parts.retain(|part| !part.is_empty());
    let mut legend = vec![meta.durability.clone(), range_legend(comparison)];
    if comparison.variants.len() > 1 && !parts.is_empty() {
        legend.insert(0, sign_legend());
    }
    parts.push(legend.iter().map(words).collect::<Vec<_>>().join("\n"));
    parts.extend(trouble(compared, style.width));
    parts.join("\n\n") + "\n"
}
