//! Publications as a document.

use serde::Serialize;

use super::outcome::{legend, verdict};
use super::publication::{Finding, Publication, publications};
use super::sentence::sentence;
use crate::document::{Cell, Document, Part, Table, fill};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::report::Report;

/// Title of the section in every format.
pub(crate) const TITLE: &str = "Published and here";

/// Widest column of verdicts.
const VERDICT: usize = 15;

/// Published findings next to ours; empty where the experiment states none.
#[derive(Debug, Clone, Copy)]
pub struct PublishedFindings<'a>(pub &'a Compared<'a>);

impl Report for PublishedFindings<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        document(self.0)
    }

    fn data(&self) -> impl Serialize {
        publications(self.0)
    }
}

/// Returns the section below its title; empty where the experiment states no finding.
pub(crate) fn document(compared: &Compared<'_>) -> Document {
    let publications = publications(compared);
    let mut document = Document::default();
    if publications.is_empty() {
        return document;
    }
    let title = Part::Heading(2, TITLE.to_owned());
    document.add([title, Part::Text(sentence(compared, &publications))]);
    for one in &publications {
        let pair = one.pair().map(|(variant, base)| format!("{variant}, {base}"));
        let facts = [
            ("there", one.setup.to_owned()),
            ("here", one.here.clone()),
            ("scaled", one.scaled.to_owned()),
            ("a, b", pair.unwrap_or_default()),
        ];
        document.add([Part::Heading(3, one.source.to_owned()), Part::facts(facts)]);
        document.add([Part::Table(table(one))]);
        let reason = |it: &Finding<'_>| (it.number.to_string(), it.reasons.join("; "));
        let reasons = Part::facts(one.findings.iter().map(reason));
        document.add(Part::Text("Reasons".to_owned()).above([reasons]));
    }
    document.add([Part::Note(legend(compared, &publications))]);
    document
}

/// Returns the findings: two lines each, what was published above what was found.
fn table(one: &Publication<'_>) -> Table {
    let has_pair = one.pair().is_some();
    let headings = ["", "<finding", "<step", "<", "a", "b", "<ratio a/b", "<verdict"];
    let mut table = Table::new(headings).broken(1);
    for finding in &one.findings {
        let [there, here] = [finding.there_cells(), finding.here_cells()];
        let both = |index: usize| Cell::from(format!("{}\n{}", there[index], here[index]));
        let pair = format!("\n{} against {}", finding.variant, finding.base);
        let metric = finding.other_metric().map(|metric| format!("\n{metric}"));
        let heading = finding.heading.replace(" (", "\n(").replace(", ", "\n");
        table.push([
            Cell::from(finding.number.to_string()),
            format!("{}{}", finding.claim, if has_pair { "" } else { &pair }).into(),
            (heading + &metric.unwrap_or_default()).into(),
            "there\nhere".into(),
            both(0),
            both(1),
            both(2).with(finding.interval()),
            Cell::new(fill(verdict(finding.outcome()), VERDICT), finding.tone()),
        ]);
    }
    table
}
