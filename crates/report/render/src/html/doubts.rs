//! Doubts and incomplete runs: what could make the answer wrong.

use lint::LintFinding;
use maud::{Markup, html};
use model::record::Severity;

use crate::input::ReportInput;
use crate::label::incomplete_line;
use crate::trust::{explain_hint, place};

/// Returns the section; it is there even when it is empty, so that silence is not mistaken.
pub(super) fn section(input: &ReportInput<'_>) -> Markup {
    let comparison = input.comparison;
    html! {
        section id="doubts" {
            h2 { "Doubts" }
            @if input.findings.is_empty() {
                p { "No rule found anything." }
            }
            @if !comparison.incomplete.is_empty() {
                h3 { "Incomplete runs" }
                ul { @for run in &comparison.incomplete { li { (incomplete_line(run)) "." } } }
            }
            @if !input.findings.is_empty() {
                h3 { "Seen, and what to do about it" }
                dl.doubts { @for one in input.findings { (entry(one)) } }
                @if let Some(hint) = explain_hint(input.findings) { p.legend { (hint) "." } }
            }
        }
    }
}

fn entry(found: &LintFinding) -> Markup {
    let (class, grave) = match (&found.waived, found.severity) {
        (Some(_), _) => ("waived", "waived"),
        (None, Severity::Note) => ("note", "note"),
        (None, Severity::Warning) => ("doubt", "doubt"),
        (None, Severity::Blocking) => ("blocking", "blocking"),
    };
    html! {
        dt class=(class) {
            b { (found.code) " " (found.name) } " (" (grave) "): "
            (ticked(&found.evidence)) (place(found))
        }
        @if let Some(reason) = &found.waived {
            dd { "Waived by the author: " (reason) }
        } @else {
            dd { (ticked(&found.remedy)) }
        }
    }
}

/// Returns text in which words between back ticks are set as code.
fn ticked(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
