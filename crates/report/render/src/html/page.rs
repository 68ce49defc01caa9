//! The page: sections in order, and what comes before the first.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::Label;

use super::{answer, explained, fold, how, memory, method, published, shape, warnings};
use crate::input::{Compared, ReportInput};
use crate::meta::Meta;
use crate::plot::{Picture, STYLE, Subject, gallery};
use crate::trust::{headline, many};

const PAGE_STYLE: &str = include_str!("page.css");

/// Returns the report as one self-contained HTML page.
#[must_use]
pub fn render_html(input: &ReportInput<'_>) -> String {
    let meta = Meta::of(input.manifest);
    let compared =
        Compared::of(input.comparison, &meta, input.runs, &input.manifest.host, input.findings);
    let pictures = gallery(&Subject::of(*input, &compared));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (meta.name) ": " (meta.question) }
                style { (PreEscaped(PAGE_STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                (header(input, &compared))
                main {
                    (answer::section(&compared))
                    (published::section(&compared, pictures.published.as_ref()))
                    (figures("pictures", "The evidence", &pictures.answer))
                    (warnings::section(input))
                    (explained::section(input, &compared))
                    (figures("evidence", "More evidence", &pictures.more))
                    (figures("costs", "What it costs", &pictures.costs))
                    (shape::section(input))
                    (memory::section(input))
                    (how::section(input, &meta, method::section(&compared)))
                    (fold::section(input, &compared))
                }
                footer {
                    "Made by Assay " (input.manifest.assay_version) " from " code { (meta.id) }
                }
            }
        }
    };
    page.into_string()
}

/// Returns question, label and key facts.
fn header(input: &ReportInput<'_>, compared: &Compared<'_>) -> Markup {
    let meta = compared.meta;
    let experiment = &input.manifest.plan.experiment;
    let complete = input.runs.iter().filter(|run| run.end.is_complete()).count();
    let planned = input.manifest.plan.cells.len();
    let shape = format!(
        "{} \u{b7} {} \u{b7} {}",
        many(experiment.variants.len(), "variant"),
        many(experiment.steps.len(), "step"),
        many(experiment.repetitions as usize, "interleaved repetition")
    );
    let invalid = input.comparison.invalid.len();
    html! {
        header {
            p.kicker { "Assay \u{b7} " (meta.name) " \u{b7} " (day(&input.manifest.created_at)) }
            h1 { (meta.question) }
            p class=(verdict_class(compared.label)) { a href="#warnings" { (headline(compared)) } }
            ul.facts {
                li { (shape) }
                li { (meta.durability) }
                li { (meta.host) }
                li { (complete) " of " (planned) " runs complete" }
                @if invalid > 0 {
                    li.warn { a href="#warnings" { (many(invalid, "run")) " invalid, not counted" } }
                }
            }
        }
    }
}

fn figures(id: &str, title: &str, pictures: &[Picture]) -> Markup {
    html! {
        @if !pictures.is_empty() {
            section id=(id) {
                h2 { (title) }
                @for picture in pictures { (picture.figure()) }
            }
        }
    }
}

/// Returns the CSS class of a label.
const fn verdict_class(label: Label) -> &'static str {
    match label {
        Label::True => "verdict true",
        Label::Truthy => "verdict truthy",
        Label::Bogus => "verdict bogus",
    }
}

/// Returns the day of an RFC 3339 stamp.
fn day(stamp: &str) -> &str {
    stamp.split('T').next().unwrap_or(stamp)
}
