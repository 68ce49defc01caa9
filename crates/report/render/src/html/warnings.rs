//! Warnings and incomplete runs.

use crate::comparison::problems;
use crate::document::{Document, Part};
use crate::input::Compared;

/// Returns the section, even when it is empty.
pub(super) fn section(compared: &Compared<'_>) -> Document {
    let mut document = Document::default();
    let none = compared.findings.is_empty();
    document.add(none.then(|| Part::Text("No rule found anything.".to_owned())));
    document.append(problems(compared, false));
    document
}
