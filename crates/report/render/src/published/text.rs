//! Publications as text for a terminal.

use super::outcome::{legend, verdict};
use super::publication::{Publication, publications};
use super::sentence::sentence;
use crate::comparison::fill;
use crate::format::Style;
use crate::input::Compared;
use crate::table::{Cell, Table};

/// Title of the section in every format.
pub(super) const TITLE: &str = "Published and here";
/// Narrowest column of a claim.
const CLAIM_MIN: usize = 16;
/// Widest column of verdicts.
const VERDICT: usize = 15;

/// Returns published findings next to ours, as text.
///
/// `None` where the experiment states none.
#[must_use]
pub fn render_published(compared: &Compared<'_>, style: Style) -> Option<String> {
    let publications = publications(compared);
    if publications.is_empty() {
        return None;
    }
    let filled = |line: &str| fill(line, style.width);
    let mut parts = vec![format!("{TITLE}\n{}", filled(&sentence(compared, &publications)))];
    for one in &publications {
        parts.push(head(one, style.width));
        parts.push(table(compared, one, style.width).text(style.width, style.has_colour));
        parts.extend(reasons(one, style.width));
    }
    parts.push(filled(&legend(compared, &publications)));
    Some(parts.join("\n\n"))
}

/// Returns the source with the set-ups there and here.
fn head(one: &Publication<'_>, width: usize) -> String {
    let mut lines = vec![fill(one.source, width)];
    let pair = one.pair().map(|(variant, base)| format!("{variant}, {base}"));
    let facts = [
        ("there", one.setup.to_owned()),
        ("here", one.here.clone()),
        ("scaled", one.scaled.to_owned()),
        ("a, b", pair.unwrap_or_default()),
    ];
    let known = facts.iter().filter(|(_, fact)| !fact.is_empty());
    lines.extend(known.map(|(name, fact)| hanging(&format!("  {name:<8}"), fact, width)));
    lines.join("\n")
}

/// Returns a fact after its name, its further lines below its beginning.
fn hanging(name: &str, fact: &str, width: usize) -> String {
    let indent = name.chars().count();
    let filled = fill(fact, width.saturating_sub(indent));
    format!("{name}{}", filled.replace('\n', &format!("\n{}", " ".repeat(indent))))
}

/// Returns the findings: two lines each, what was published above what was found.
fn table(compared: &Compared<'_>, one: &Publication<'_>, width: usize) -> Table {
    let mut table = Table::new(["", "finding", "step", "", "a", "b", "ratio a/b", "verdict"]);
    table.align_left(&[1, 2, 3, 6, 7]);
    let has_pair = one.pair().is_some();
    for finding in &one.findings {
        let [there, here] = [finding.there_cells(), finding.here_cells()];
        let both = |index: usize| format!("{}\n{}", there[index], here[index]);
        let ratio = format!("{} {}", both(2), finding.interval());
        let step = match finding.other_metric() {
            Some(metric) => format!("{}\n{metric}", finding.heading),
            None => finding.heading.clone(),
        };
        table.push(vec![
            Cell::plain(finding.number.to_string()),
            Cell::plain(finding.claim),
            Cell::plain(step.replace(" (", "\n(").replace(", ", "\n")),
            Cell::plain("there\nhere"),
            Cell::plain(both(0)),
            Cell::plain(both(1)),
            Cell::plain(ratio.trim_end()),
            Cell { text: fill(verdict(compared, finding), VERDICT), tone: finding.tone(compared) },
        ]);
    }
    let room = width.saturating_sub(table.width_without(1)).max(CLAIM_MIN);
    for (row, finding) in table.rows.iter_mut().zip(&one.findings) {
        let pair = format!("a, b: {}, {}", finding.variant, finding.base);
        let claim = [Some(finding.claim), (!has_pair).then_some(pair.as_str())];
        let claim = claim.iter().flatten().map(|text| fill(text, room));
        row[1].text = claim.collect::<Vec<_>>().join("\n");
    }
    table
}

/// Returns the reasons by the numbers of the findings; `None` without any.
fn reasons(one: &Publication<'_>, width: usize) -> Option<String> {
    let last = one.findings.last().map_or(0, |finding| finding.number).to_string().len();
    let line = |finding: &super::Finding<'_>| {
        let name = format!("  {:<last$}  ", finding.number);
        let reasons = finding.reasons.join("; ");
        (!reasons.is_empty()).then(|| hanging(&name, &reasons, width))
    };
    let lines: Vec<String> = one.findings.iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| format!("Reasons\n{}", lines.join("\n")))
}
