//! The answer on one screen: what `run` prints at its end.

use super::text::{fill, problems};
use super::{BRACKETS, has_brackets, open, search, sweep};
use crate::comparison::tables::runs_table;
use crate::format::Style;
use crate::input::Compared;
use crate::label::{runs_legend, sign_legend};
use crate::published::render_published;
use crate::sentence::{control, detectable, hidden, warmup_trims};
use crate::table::Table;
use crate::trust::headline;

/// Returns the one-screen answer: label, figures, ratios, legends and warnings.
///
/// Bytes written per byte put are those of the whole process over all steps, log included: the
/// one definition that is the same for every engine.
#[must_use]
pub fn render_answer(compared: &Compared<'_>, style: Style) -> String {
    let (comparison, meta) = (compared.comparison, compared.meta);
    let has_several = comparison.variants.len() > 1;
    let filled = |line: &String| fill(line, style.width);
    let text = |table: &Table| table.text(style.width, style.has_colour);
    let mut parts = Vec::new();
    for part in sweep::parts(compared) {
        let sentences = part.sentences.iter().map(filled);
        let lines: Vec<String> = sentences.chain(part.tables.iter().map(text)).collect();
        parts.push(lines.join("\n"));
    }
    parts.push(text(&runs_table(compared)));
    let loads = open::parts(compared).into_iter().chain(search::parts(compared));
    let sentences = loads.flat_map(|part| part.sentences).chain(hidden(compared));
    parts.push(sentences.map(|line| filled(&line)).collect::<Vec<_>>().join("\n"));
    parts.retain(|part| !part.is_empty());
    let mut legend = Vec::new();
    if has_several && !parts.is_empty() {
        legend.push(sign_legend(compared));
        legend.extend(detectable(compared));
    }
    legend.extend(has_brackets(compared).then(|| BRACKETS.to_owned()));
    legend.extend(control(compared).into_iter().chain(warmup_trims(compared)));
    legend.extend([meta.durability.clone(), runs_legend(compared)]);
    parts.insert(0, filled(&headline(compared)));
    parts.push(legend.iter().map(filled).collect::<Vec<_>>().join("\n"));
    parts.extend(render_published(compared, style));
    parts.extend(problems(compared, style.width));
    parts.join("\n\n") + "\n"
}
