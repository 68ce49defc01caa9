//! The answer on one screen: what `run` prints at its end.

use super::text::{fill, trouble};
use super::{BRACKETS, has_brackets, open, search, sweep};
use crate::comparison::tables::runs_table;
use crate::format::Style;
use crate::input::Compared;
use crate::label::{runs_legend, sign_legend};
use crate::published::render_published;
use crate::sentence::{control, cut, hidden, unseen};
use crate::table::Table;
use crate::trust::headline;

/// Returns the label, each step's figure and ratio with what whole runs cost, what open loops,
/// searches and sweeps showed, what could have been seen, legends and doubts.
///
/// Bytes written per byte put are those of the whole process over all steps, log included: the
/// one definition that is the same for every engine.
#[must_use]
pub fn render_answer(compared: &Compared<'_>, style: Style) -> String {
    let (comparison, meta) = (compared.comparison, compared.meta);
    let has_several = comparison.variants.len() > 1;
    let words = |line: &String| fill(line, style.width);
    let text = |table: &Table| table.text(style.width, style.has_colour);
    let mut parts = Vec::new();
    for part in sweep::parts(compared) {
        let sentences = part.sentences.iter().map(words);
        let lines: Vec<String> = sentences.chain(part.tables.iter().map(text)).collect();
        parts.push(lines.join("\n"));
    }
    parts.push(text(&runs_table(compared)));
    let told = open::parts(compared).into_iter().chain(search::parts(compared));
    let told = told.flat_map(|part| part.sentences).chain(hidden(compared));
    let told: Vec<String> = told.map(|it| words(&it)).collect();
    parts.push(told.join("\n"));
    parts.retain(|part| !part.is_empty());
    let mut legend = Vec::new();
    if has_several && !parts.is_empty() {
        legend.push(sign_legend(compared));
        legend.extend(unseen(compared));
    }
    legend.extend(has_brackets(compared).then(|| BRACKETS.to_owned()));
    legend.extend(control(compared).into_iter().chain(cut(compared)));
    legend.extend([meta.durability.clone(), runs_legend(compared)]);
    parts.insert(0, words(&headline(compared)));
    parts.push(legend.iter().map(words).collect::<Vec<_>>().join("\n"));
    parts.extend(render_published(compared, style));
    parts.extend(trouble(compared, style.width));
    parts.join("\n\n") + "\n"
}
