//! Explanations as a report.

use analysis::explain::{Rule, Rung};
use analysis::{Explanation, StorageUse};
use serde::Serialize;
use serde_json::json;

use super::account::table;
use super::sentence::{headline, sentences};
use crate::device::storage_uses;
use crate::document::{Document, Part, Table, merged};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::report::Report;
use crate::trust;

/// The explanations of one or more steps below the label.
pub struct Explained<'a> {
    /// The comparison.
    pub compared: &'a Compared<'a>,
    /// The explanations.
    pub explanations: &'a [Explanation],
    /// Uses of the device in these steps.
    pub storage: &'a [StorageUse],
}

impl Report for Explained<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        let (compared, storage) = (self.compared, self.storage);
        let mut document = Document::from([vec![Part::Text(trust::headline(compared))]]);
        document.add(compared.meta.disclaimer.clone().map(Part::Text));
        let blocks = blocks(compared, self.explanations);
        blocks.into_iter().for_each(|block| document.add(block.parts()));
        if !storage.is_empty() {
            document.add([Part::title("Storage")]);
            document.add(storage_uses(storage));
        }
        document
    }

    fn data(&self) -> impl Serialize {
        let Self { compared, explanations, storage } = *self;
        // Absent without a stored profile of the device.
        let storage = (!storage.is_empty()).then(|| json!({ "storage": storage }));
        let all = json!({
            "experiment": compared.meta,
            "label": compared.label,
            "explanations": explanations,
        });
        merged([all].into_iter().chain(storage))
    }
}

/// The explanation of one step.
pub(crate) struct Block {
    headline: String,
    table: Option<Table>,
    sentences: Vec<String>,
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

    /// Returns headline, account and sentences.
    pub(crate) fn parts(self) -> Vec<Part> {
        let mut parts = vec![Part::Strong(self.headline)];
        parts.extend(self.table.map(Part::Table));
        parts.push(Part::Items(self.sentences));
        parts
    }

    /// Returns the block in a report: one line where the difference is not explained.
    pub(crate) fn in_report(self) -> Vec<Part> {
        match self.sentences.first().filter(|_| self.is_refused) {
            Some(why) => vec![Part::Strong(format!("{} {why}", self.headline))],
            None => self.parts(),
        }
    }
}

/// Returns a block per step; a bogus comparison has one.
fn blocks(compared: &Compared<'_>, explanations: &[Explanation]) -> Vec<Block> {
    let is_bogus = |one: &Explanation| one.refusals.iter().any(|it| it.rule == Rule::Bogus);
    let all_bogus = !explanations.is_empty() && explanations.iter().all(is_bogus);
    let shown = if all_bogus { &explanations[..1] } else { explanations };
    shown.iter().map(|one| Block::of(compared, one)).collect()
}
