//! The page: sections in order, and what comes before the first.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::units::many;
use model::{Label, visible};

use super::{answer, explained, fold, how, memory, method, shape};
use crate::comparison::{TRADE_OFFS, details, folded, problems, trade_offs};
use crate::document::{self, Document, Part};
use crate::input::{Compared, ReportInput};
use crate::lines::{Lines, folded_lines};
use crate::list::complete_runs;
use crate::meta::Meta;
use crate::plot::{Picture, STYLE, Subject, gallery};
use crate::published;
use crate::trust::headline;
use crate::where_cpu;

/// The style sheet of every page.
pub(crate) const PAGE_STYLE: &str = include_str!("page.css");

/// Returns the report as one self-contained HTML page.
pub fn render_html(input: &ReportInput<'_>) -> String {
    let meta = Meta::of_runs(input.manifest, input.runs);
    let compared =
        Compared::of(input.comparison, &meta, input.runs, &input.manifest.host, input.findings);
    let body = html! {
        (header(input, &compared, "#warnings"))
        main {
            @for (id, title, parts) in sections(input, &compared) {
                @if !parts.is_empty() {
                    section id=(id) { h2 { (title) } (document::html(&parts)) }
                }
            }
        }
        footer { "Made by Assay " (input.manifest.assay_version) " from " code { (meta.id) } }
    };
    page(&meta.title, &body)
}

/// Returns a document as one self-contained page.
pub(crate) fn document_page(title: &str, document: &Document) -> String {
    let parts = document::html(document.parts());
    page(title, &html! { main { section { h2 { (title) } (parts) } } })
}

/// Returns a self-contained page with every style.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(PAGE_STYLE)) (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    visible(&page.into_string()).into_owned()
}

/// Returns question, label and key facts; `warnings` is the address of the warnings.
pub(crate) fn header(input: &ReportInput<'_>, compared: &Compared<'_>, warnings: &str) -> Markup {
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
    let invalid = input.runs.iter().filter(|run| !run.is_counted()).count();
    html! {
        header {
            p.kicker { "Assay \u{b7} " (meta.name) @if let Some(size) = &meta.size { " \u{b7} size " (size) } " \u{b7} " (day(&input.manifest.created_at)) }
            h1 { (meta.question) }
            p class=(verdict_class(compared.label)) { a href=(warnings) { (headline(compared)) } }
            ul.facts {
                li { (shape) }
                li { (meta.durability) }
                @if let Some(disclaimer) = &meta.disclaimer { li { (disclaimer) } }
                li { (meta.host) }
                li { (complete_runs(complete, planned)) }
                @if invalid > 0 {
                    li.warn { a href=(warnings) { (many(invalid, "run")) " invalid, not counted" } }
                }
            }
        }
    }
}

/// Returns the sections in order, each with its identifier and title.
fn sections(
    input: &ReportInput<'_>,
    compared: &Compared<'_>,
) -> [(&'static str, &'static str, Vec<Part>); 13] {
    let pictures = gallery(&Subject::of(*input, compared));
    [
        ("answer", "The answer", answer::section(compared)),
        ("published", published::TITLE, published(compared)),
        ("pictures", "The evidence", figures(pictures.answer)),
        ("warnings", "Warnings", warnings(compared)),
        ("explained", "Explained", explained::section(input, compared)),
        ("flame", where_cpu::TITLE, where_cpu::section(input, compared)),
        ("evidence", "More evidence", figures(pictures.more)),
        ("costs", "What it costs", costs(input, compared, pictures.costs)),
        ("trade-offs", TRADE_OFFS, trade_offs(compared)),
        ("shape", "Shape of the trees", shape::section(input)),
        ("memory", "Memory", memory::section(input)),
        ("how", "How it was done", how_it_was_done(input, compared)),
        ("more", "Everything else", fold::section(input, compared)),
    ]
}

/// Returns drawings as parts.
pub(crate) fn figures(pictures: Vec<Picture>) -> Vec<Part> {
    pictures.into_iter().map(Part::Picture).collect()
}

/// Returns published findings next to the figures here, without their title.
pub(crate) fn published(compared: &Compared<'_>) -> Vec<Part> {
    below(published::TITLE, published::document(compared)).collect()
}

/// Returns incomplete runs and every finding.
pub(crate) fn warnings(compared: &Compared<'_>) -> Vec<Part> {
    let none = compared.findings.is_empty();
    let none = none.then(|| Part::Text("No rule found anything.".to_owned())).into_iter();
    none.chain(below("Warnings", problems(compared, None))).collect()
}

/// Returns the drawings of costs, the lines of public reports, and details.
pub(crate) fn costs(
    input: &ReportInput<'_>,
    compared: &Compared<'_>,
    pictures: Vec<Picture>,
) -> Vec<Part> {
    let mut costs = figures(pictures);
    costs.extend(lines_section(input, compared));
    costs.extend(details(compared).map(folded));
    costs
}

/// Returns command, method, machine, builds and options.
pub(crate) fn how_it_was_done(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    how::section(input, compared.meta, method::section(compared))
}

/// Returns the parts below a section's title, which is not repeated.
fn below(title: &str, document: Document) -> impl Iterator<Item = Part> {
    let is_title = move |part: &Part| matches!(part, Part::Heading(_, text) if text == title);
    document.into_parts().filter(move |part| !is_title(part))
}

/// Returns the CSS class of a label.
const fn verdict_class(label: Label) -> &'static str {
    match label {
        Label::True => "verdict true",
        Label::Truthy => "verdict truthy",
        Label::Undecided | Label::Bogus | Label::Nothing => "verdict bogus",
    }
}

/// Returns the day of an RFC 3339 stamp.
fn day(stamp: &str) -> &str {
    stamp.split('T').next().unwrap_or(stamp)
}

/// Returns the report of the experiment's kind, then the device's; those without a value are left
/// out.
///
/// The names of all insert benchmarks begin with their report's.
fn lines_section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let experiment = &input.manifest.plan.experiment;
    let own = match &experiment.application {
        Some(application) => {
            application.name.starts_with(Lines::Ibench.name()).then_some(Lines::Ibench)
        }
        None => experiment.device.is_none().then_some(Lines::Rocksdb),
    };
    let all = own.into_iter().chain([Lines::Iostat]);
    all.filter_map(|lines| folded_lines(compared, lines, input.host().cpus)).collect()
}
