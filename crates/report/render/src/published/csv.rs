//! Published findings as fields of a line of comma-separated values.

use model::Expected;

use super::publication::{Finding, publications};
use crate::document::{number, snake};
use crate::input::Compared;
use crate::label::level_suffix;

/// Returns each finding with its own fields, in the order of the columns.
pub(crate) fn lines<'a>(compared: &Compared<'a>) -> Vec<(Finding<'a>, [String; 9])> {
    let publications = publications(compared).into_iter();
    let all = publications.flat_map(|one| one.findings.into_iter().map(move |it| (one.source, it)));
    let with_fields = all.map(|(source, finding)| {
        let there = &finding.published;
        let expected = if let Expected::Ratio(ratio) = there.expected {
            ratio.to_string()
        } else {
            snake(there.expected)
        };
        let outcome = finding.outcome();
        let level = finding.base_clients.map(level_suffix);
        let fields = [
            finding.base.to_owned() + &level.unwrap_or_default(),
            number(finding.spreads.map(|[_, base]| base.mean)),
            number(there.value),
            number(there.base_value),
            expected,
            outcome.map_or_else(|| "bogus".to_owned(), snake),
            finding.claim.to_owned(),
            source.to_owned(),
            finding.reasons.join("; "),
        ];
        (finding, fields)
    });
    with_fields.collect()
}
