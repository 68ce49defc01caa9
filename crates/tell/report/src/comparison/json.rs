//! The comparison as JSON: every metric, for programs.

use analysis::Comparison;
use serde::Serialize;

use crate::meta::Meta;

#[derive(Serialize)]
struct Document<'a> {
    experiment: &'a Meta,
    comparison: &'a Comparison,
}

/// Returns the comparison and what captions say about it, as one JSON object.
pub(super) fn render(comparison: &Comparison, meta: &Meta) -> String {
    let document = Document { experiment: meta, comparison };
    let text = serde_json::to_string_pretty(&document);
    text.expect("its maps have text keys and its numbers are finite") + "\n"
}
