//! Publications as Markdown.

use super::outcome::{legend, verdict};
use super::publication::{Publication, publications};
use super::sentence::sentence;
use super::text::TITLE;
use crate::input::Compared;
use crate::table::{Cell, Table};

/// Returns the section; `None` where the experiment states nothing.
pub(crate) fn markdown(compared: &Compared<'_>) -> Option<String> {
    let publications = publications(compared);
    if publications.is_empty() {
        return None;
    }
    let mut parts = vec![format!("## {TITLE}"), sentence(compared, &publications)];
    for one in &publications {
        parts.push(format!("### {}", one.source));
        parts.push(head(one));
        parts.push(table(compared, one).markdown());
    }
    parts.push(legend(compared, &publications));
    Some(parts.join("\n\n"))
}

/// Returns the set-ups there and here, as a list.
fn head(one: &Publication<'_>) -> String {
    let pair = one.pair().map(|(variant, base)| format!("`{variant}`, `{base}`"));
    let facts = [
        ("There", one.setup.to_owned()),
        ("Here", one.here.clone()),
        ("Scaled", one.scaled.to_owned()),
        ("a, b", pair.unwrap_or_default()),
    ];
    let known = facts.iter().filter(|(_, fact)| !fact.is_empty());
    known.map(|(name, fact)| format!("- {name}: {fact}")).collect::<Vec<_>>().join("\n")
}

fn table(compared: &Compared<'_>, one: &Publication<'_>) -> Table {
    let mut table = Table::new([
        "finding",
        "step",
        "published a",
        "published b",
        "published a/b",
        "here a",
        "here b",
        "here a/b [95 %]",
        "verdict",
        "reasons",
    ]);
    table.align_left(&[1, 8, 9]);
    let has_pair = one.pair().is_some();
    for finding in &one.findings {
        let pair = format!(" (`{}`, `{}`)", finding.variant, finding.base);
        let claim = format!("{}{}", finding.claim, if has_pair { "" } else { &pair });
        let metric = finding.other_metric().map(|metric| format!(", `{metric}`"));
        let mut row = vec![claim, format!("{}{}", finding.heading, metric.unwrap_or_default())];
        row.extend(finding.there_cells());
        let [a, b, ratio] = finding.here_cells();
        row.extend([a, b, format!("{ratio} {}", finding.interval()).trim_end().to_owned()]);
        row.push(verdict(compared, finding).to_owned());
        row.push(finding.reasons.join("; "));
        table.push(row.iter().map(|text| Cell::plain(text.replace('|', "\\|"))).collect());
    }
    table
}
