//! Published findings as lines of comma-separated values.

use model::Expected;

use super::publication::{Finding, publications};
use crate::comparison::{field, snake};
use crate::input::Compared;

/// Number of fields of findings alone: the last columns.
pub(crate) const FIELDS: usize = 9;

/// Returns each finding with its own fields, in the order of the columns.
pub(crate) fn lines<'a>(compared: &Compared<'a>) -> Vec<(Finding<'a>, [String; FIELDS])> {
    let publications = publications(compared).into_iter();
    let all = publications.flat_map(|one| one.findings.into_iter().map(move |it| (one.source, it)));
    all.map(|(source, finding)| {
        let fields = fields(compared, source, &finding);
        (finding, fields)
    })
    .collect()
}

fn fields(compared: &Compared<'_>, source: &str, finding: &Finding<'_>) -> [String; FIELDS] {
    let number = |value: Option<f64>| value.map(|one| one.to_string()).unwrap_or_default();
    let there = &finding.published;
    let expected = match there.expected {
        Expected::Ratio(ratio) => ratio.to_string(),
        Expected::Higher => "higher".to_owned(),
        Expected::Lower => "lower".to_owned(),
        Expected::Same => "same".to_owned(),
    };
    let outcome = compared.reproduction(finding.verdict);
    [
        field(finding.base),
        number(finding.spreads.map(|[_, base]| base.median)),
        number(there.value),
        number(there.base_value),
        expected,
        outcome.map_or_else(|| "bogus".to_owned(), snake),
        field(finding.claim),
        field(source),
        field(&finding.reasons.join("; ")),
    ]
}
