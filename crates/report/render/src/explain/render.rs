//! Explanations as text, Markdown and JSON.

use analysis::Explanation;
use analysis::explain::{Rule, Rung};
use model::Label;
use serde::Serialize;

use super::account::table;
use super::sentence::{headline, sentences};
use crate::comparison::fill;
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::meta::Meta;
use crate::table::Table;
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
    match format {
        Format::Text | Format::Csv => text(compared, explanations, style),
        Format::Markdown => markdown(compared, explanations),
        Format::Json => json(compared, explanations),
    }
}

/// The explanation of one step.
pub(crate) struct Block {
    pub(crate) headline: String,
    pub(crate) table: Option<Table>,
    pub(crate) sentences: Vec<String>,
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

    /// Returns the block as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut parts = vec![format!("**{}**", self.headline)];
        parts.extend(self.table.as_ref().map(Table::markdown));
        let lines: Vec<String> = self.sentences.iter().map(|line| format!("- {line}")).collect();
        parts.push(lines.join("\n"));
        parts.join("\n\n")
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

fn text(compared: &Compared<'_>, explanations: &[Explanation], style: Style) -> String {
    let mut parts = vec![fill(&trust::headline(compared), style.width)];
    for block in blocks(compared, explanations) {
        let mut lines = vec![fill(&block.headline, style.width)];
        lines.extend(block.table.map(|table| table.text(style.width, style.has_colour)));
        lines.extend(block.sentences.iter().map(|line| fill(line, style.width)));
        parts.push(lines.join("\n"));
    }
    parts.join("\n\n") + "\n"
}

fn markdown(compared: &Compared<'_>, explanations: &[Explanation]) -> String {
    let blocks = blocks(compared, explanations);
    let texts = blocks.iter().map(Block::markdown);
    let parts: Vec<String> = std::iter::once(trust::headline(compared)).chain(texts).collect();
    parts.join("\n\n") + "\n"
}

#[derive(Serialize)]
struct Document<'a> {
    experiment: &'a Meta,
    label: Label,
    explanations: &'a [Explanation],
}

fn json(compared: &Compared<'_>, explanations: &[Explanation]) -> String {
    let document = Document { experiment: compared.meta, label: compared.label, explanations };
    let text = serde_json::to_string_pretty(&document);
    text.expect("its maps have text keys and its numbers are finite") + "\n"
}
