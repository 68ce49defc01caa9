//! Warnings and incomplete runs.

use lint::LintFinding;
use maud::{Markup, html};
use model::record::Severity;

use crate::input::ReportInput;
use crate::label::incomplete_line;
use crate::trust::{explain_hint, place};

/// Returns the section, even when it is empty.
pub(super) fn section(input: &ReportInput<'_>) -> Markup {
    let comparison = input.comparison;
    html! {
        section id="warnings" {
            h2 { "Warnings" }
            @if input.findings.is_empty() {
                p { "No rule found anything." }
            }
            @if !comparison.incomplete.is_empty() {
                h3 { "Incomplete runs" }
                ul { @for run in &comparison.incomplete { li { (incomplete_line(run)) "." } } }
            }
            @if !input.findings.is_empty() {
                h3 { "Evidence and remedies" }
                dl.warnings { @for one in input.findings { (entry(one)) } }
                @if let Some(hint) = explain_hint(input.findings) { p.legend { (hint) "." } }
            }
        }
    }
}

fn entry(found: &LintFinding) -> Markup {
    let (class, severity) = match (&found.waived, found.severity) {
        (Some(_), _) => ("waived", "waived"),
        (None, Severity::Note) => ("note", "note"),
        (None, Severity::Warning) => ("warning", "warning"),
        (None, Severity::Blocking) => ("blocking", "blocking"),
    };
    html! {
        dt class=(class) {
            b { (found.code) " " (found.name) } " (" (severity) "): "
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
