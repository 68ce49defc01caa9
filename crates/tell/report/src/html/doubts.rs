//! Doubts and incomplete runs: what could make the answer wrong.

use maud::{Markup, html};
use model::record::Severity;

use crate::input::ReportInput;
use crate::label::incomplete_line;

/// Returns how many entries the section has.
pub(super) fn count(input: &ReportInput<'_>) -> usize {
    let comparison = input.comparison;
    comparison.incomplete.len() + input.findings.len()
}

/// Returns the section; it is there even when it is empty, so that silence is not mistaken.
pub(super) fn section(input: &ReportInput<'_>) -> Markup {
    let comparison = input.comparison;
    html! {
        section id="doubts" {
            h2 { "Doubts" }
            @if count(input) == 0 {
                p { "None was found. Not looked for yet: everything that a lint of results would \
                     look for." }
            }
            @if !comparison.incomplete.is_empty() {
                h3 { "Incomplete runs" }
                ul { @for run in &comparison.incomplete { li { (incomplete_line(run)) "." } } }
            }
            @if !input.findings.is_empty() {
                h3 { "Seen, and what to do about it" }
                dl.doubts {
                    @for one in input.findings {
                        (entry(Some(one.code), (one.severity, &one.seen), &one.remedy))
                    }
                }
            }
        }
    }
}

fn entry(code: Option<&str>, (severity, seen): (Severity, &str), remedy: &str) -> Markup {
    let grave = |severity| match severity {
        Severity::Note => "note",
        Severity::Doubt => "doubt",
        Severity::Blocking => "blocking",
    };
    html! {
        dt {
            @if let Some(code) = code { b { (code) } " (" (grave(severity)) ") " }
            @else if severity == Severity::Blocking { b { (grave(severity)) } ": " }
            (ticked(seen))
        }
        dd { (ticked(remedy)) }
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
