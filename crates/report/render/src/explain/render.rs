//! Explanations as text, Markdown and JSON.

use analysis::Explanation;
use analysis::explain::{Rule, Rung};
use model::Label;
use serde::Serialize;

use super::account::table;
use super::sentence::{headline, sentences};
use crate::document::{Document, Part, Table, json};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::meta::Meta;
use crate::trust;

/// Returns the explanations of one or more steps below the label.
///
/// There is no CSV form: text takes its place.
#[must_use]
pub fn render_explanations(
    compared: &Compared<'_>,
    explanations: &[Explanation],
    format: Format,
    style: Style,
) -> String {
    if format == Format::Json {
        let (experiment, label) = (compared.meta, compared.label);
        return json(&Data { experiment, label, explanations });
    }
    let mut document = Document::from([vec![Part::Text(trust::headline(compared))]]);
    blocks(compared, explanations).into_iter().for_each(|block| document.add(block.parts()));
    document.render(format, style)
}

#[derive(Serialize)]
struct Data<'a> {
    experiment: &'a Meta,
    label: Label,
    explanations: &'a [Explanation],
}

/// The explanation of one step.
pub(crate) struct Block {
    headline: String,
    table: Option<Table>,
    pub(super) sentences: Vec<String>,
    is_refused: bool,
}

impl Block {
    pub(super) fn of(compared: &Compared<'_>, explanation: &Explanation) -> Self {
        Self {
            headline: headline(compared, explanation),
            table: table(explanation),
            sentences: sentences(explanation),
            is_refused: explanation.rung == Rung::Nothing,
        }
    }

    /// Returns why the difference is not explained, in one line; `None` where it is.
    pub(crate) fn refusal(&self) -> Option<String> {
        let why = self.sentences.first().filter(|_| self.is_refused)?;
        Some(format!("{} {why}", self.headline))
    }

    /// Returns headline, account and sentences.
    pub(crate) fn parts(self) -> Vec<Part> {
        let mut parts = vec![Part::Strong(self.headline)];
        parts.extend(self.table.map(Part::Table));
        parts.push(Part::Items(self.sentences));
        parts
    }

    /// Returns the block in a report: one line where the difference is not explained.
    pub(crate) fn in_report(self) -> Vec<Part> {
        self.refusal().map_or_else(|| self.parts(), |line| vec![Part::Strong(line)])
    }
}

/// Returns a block per step; of equal sentences in neighbouring steps the last stays.
///
/// A bogus comparison has one block.
fn blocks(compared: &Compared<'_>, explanations: &[Explanation]) -> Vec<Block> {
    let is_bogus = |one: &Explanation| one.refusals.iter().any(|it| it.rule == Rule::Bogus);
    let shown = if explanations.iter().any(is_bogus) { &explanations[..1] } else { explanations };
    let mut blocks: Vec<Block> = shown.iter().map(|one| Block::of(compared, one)).collect();
    for at in 1..blocks.len() {
        let (before, after) = blocks.split_at_mut(at);
        if let (Some(before), Some(after)) = (before.last_mut(), after.first()) {
            before.sentences.retain(|sentence| !after.sentences.contains(sentence));
        }
    }
    blocks
}
