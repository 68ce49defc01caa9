//! Explanations as a report.

use analysis::explain::{Rule, Rung};
use analysis::{Explanation, StorageUse};
use serde::Serialize;
use serde_json::json;

use super::account::{is_hidden, table};
use super::functions::functions;
use super::sentence::{headline, sentences};
use crate::device::storage_uses;
use crate::document::{Document, Part, merged};
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
    fn document(&self, format: Format, _: Style) -> Document {
        let (compared, storage) = (self.compared, self.storage);
        let mut document = Document::from([vec![Part::Text(trust::headline(compared))]]);
        document.add(compared.meta.disclaimer.clone().map(Part::Text));
        // A bogus comparison has one block.
        let is_bogus = |one: &Explanation| one.refusals.iter().any(|it| it.rule == Rule::Bogus);
        let shown = if self.explanations.iter().all(is_bogus) { 1 } else { usize::MAX };
        self.explanations
            .iter()
            .take(shown)
            .for_each(|one| document.add(parts(compared, one, format)));
        let mut uses = Part::title("Storage").above(storage_uses(storage)).into_iter();
        document.add(uses.next());
        document.add(uses);
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

/// Returns headline, account and sentences of one step.
fn parts(compared: &Compared<'_>, one: &Explanation, format: Format) -> Vec<Part> {
    let table = table(one).map(Part::Table);
    let head = [Part::Strong(headline(compared, one))].into_iter();
    let is_hidden = one.refusals.iter().any(|it| is_hidden(it.rule));
    let functions = if is_hidden { Vec::new() } else { functions(one, format) };
    head.chain(table).chain([Part::Items(sentences(one))]).chain(functions).collect()
}

/// Returns the explanation in a report: one line where the difference is not explained.
pub(crate) fn in_report(compared: &Compared<'_>, one: &Explanation) -> Vec<Part> {
    let why = sentences(one).into_iter().next().filter(|_| one.rung == Rung::Nothing);
    match why {
        Some(why) => vec![Part::Strong(format!("{} {why}", headline(compared, one)))],
        None => parts(compared, one, Format::Text),
    }
}
