//! The comparison as JSON: every metric, for programs.

use analysis::{Comparison, RateCurve, Scaling};
use serde::Serialize;

use crate::input::Compared;
use crate::meta::Meta;

#[derive(Serialize)]
struct Document<'a> {
    experiment: &'a Meta,
    comparison: &'a Comparison,
    rate_curves: &'a [RateCurve],
    scalability: &'a [Scaling],
}

/// Returns the comparison, its curves and what captions say about it, as one JSON object.
pub(super) fn render(compared: &Compared<'_>) -> String {
    let document = Document {
        experiment: compared.meta,
        comparison: compared.comparison,
        rate_curves: &compared.curves,
        scalability: &compared.scalings,
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("its maps have text keys and its numbers are finite") + "\n"
}
