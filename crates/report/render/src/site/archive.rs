//! The first page: every experiment, with a filter whose hidden entries are counted.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::units::many;
use model::{Label, in_line};

use super::Frame;
use super::view::encoded;
use crate::list::complete_runs;

/// An experiment in the list.
#[derive(Debug, Clone)]
pub struct ArchiveEntry {
    /// Its name.
    pub name: String,
    /// Its identifier.
    pub id: String,
    /// Its question.
    pub question: String,
    /// When it was begun, UTC, RFC 3339.
    pub created_at: String,
    /// Engines with their versions, each once.
    pub builds: Vec<String>,
    /// Its steps, each once.
    pub steps: Vec<String>,
    /// The machine in a word.
    pub host: String,
    /// Planned runs.
    pub cells: usize,
    /// Complete runs.
    pub complete: usize,
    /// How far it can be trusted; `None` before it is classified.
    pub label: Option<Label>,
    /// Its first sentence; empty before it is classified.
    pub answer: String,
    /// Whether a process is writing runs of it.
    pub is_running: bool,
}

/// What the list is restricted to; an empty text restricts nothing.
#[derive(Debug, Clone, Default)]
pub struct ArchiveFilter {
    /// A part of name, identifier or question.
    pub text: String,
    /// An engine, or an engine with its version.
    pub build: String,
    /// A step.
    pub step: String,
    /// A machine.
    pub host: String,
    /// A label, as it is printed.
    pub label: String,
    /// First day, `2026-11-20`.
    pub from: String,
    /// Last day.
    pub to: String,
    /// Entries that come before those of this page.
    pub skip: usize,
}

/// Entries of a page.
const PAGE_ENTRIES: usize = 200;

/// Returns the page; `entries` are sorted, the newest first.
pub fn archive_page(frame: &Frame, entries: &[ArchiveEntry], filter: &ArchiveFilter) -> String {
    let shown: Vec<&ArchiveEntry> = entries.iter().filter(|one| filter.has(one)).collect();
    let most = if frame.has_forms() { PAGE_ENTRIES } else { usize::MAX };
    let page: Vec<&&ArchiveEntry> = shown.iter().skip(filter.skip).take(most).collect();
    let running: Vec<&ArchiveEntry> = entries.iter().filter(|one| one.is_running).collect();
    let body = html! {
        header { h1 { "Archive" } }
        main {
            @for one in running {
                p.running { a href=(format!("{}live/", address(frame, one))) {
                    (one.name) ": runs are in progress, " (complete_runs(one.complete, one.cells))
                } }
            }
            @if frame.has_forms() { (form(entries, filter)) }
            p { (counted(entries, &shown)) }
            @if frame.has_forms() && page.len() > 1 {
                form #compared action=(frame.to("compare/")) { button { "Compare the marked experiments" } }
            }
            @if !page.is_empty() { (table(frame, &page)) }
            @if shown.len() > filter.skip + page.len() {
                p { a href=(filter.query(filter.skip + PAGE_ENTRIES)) rel="next" { "Older experiments" } }
            }
        }
    };
    frame.page("Assay: archive", "", &body)
}

impl ArchiveFilter {
    fn has(&self, entry: &ArchiveEntry) -> bool {
        let text = self.text.to_lowercase();
        let day = entry.created_at.split('T').next().unwrap_or_default();
        let has_text = [&entry.name, &entry.id, &entry.question]
            .into_iter()
            .any(|field| field.to_lowercase().contains(&text));
        let is = |wanted: &str, found: &[String]| {
            wanted.is_empty() || found.iter().any(|one| one == wanted)
        };
        let engine = |build: &String| build.split(' ').next().unwrap_or_default().to_owned();
        let engines: Vec<String> = entry.builds.iter().map(engine).collect();
        has_text
            && (is(&self.build, &entry.builds) || is(&self.build, &engines))
            && is(&self.step, &entry.steps)
            && (self.host.is_empty() || self.host == entry.host)
            && (self.label.is_empty() || self.label == label_text(entry))
            && (self.from.is_empty() || *self.from <= *day)
            && (self.to.is_empty() || *day <= *self.to)
    }

    /// Returns whether it restricts more than the text.
    fn is_narrow(&self) -> bool {
        let Self { build, step, host, label, from, to, .. } = self;
        [build, step, host, label, from, to].into_iter().any(|value| !value.is_empty())
    }

    /// Returns the address of the page that begins after so many entries.
    fn query(&self, skip: usize) -> String {
        let skip = skip.to_string();
        let fields = [
            ("text", &self.text),
            ("build", &self.build),
            ("step", &self.step),
            ("host", &self.host),
            ("label", &self.label),
            ("from", &self.from),
            ("to", &self.to),
            ("skip", &skip),
        ];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> =
            fields.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        format!("?{}", pairs.join("&"))
    }
}

/// Returns how many are shown and what is hidden: `3 of 41 experiments; 38 hidden by the filter, 1
/// of them bogus.`
fn counted(entries: &[ArchiveEntry], shown: &[&ArchiveEntry]) -> String {
    let all = many(entries.len(), "experiment");
    let hidden = entries.len() - shown.len();
    if hidden == 0 {
        return format!("{all}.");
    }
    let is_bogus = |entry: &&ArchiveEntry| entry.label == Some(Label::Bogus);
    let bogus =
        entries.iter().filter(is_bogus).count() - shown.iter().copied().filter(is_bogus).count();
    let of_them = if bogus == 0 { String::new() } else { format!(", {bogus} of them bogus") };
    format!("{} of {all}; {hidden} hidden by the filter{of_them}.", shown.len())
}

fn label_text(entry: &ArchiveEntry) -> String {
    entry.label.map_or_else(|| "not classified yet".to_owned(), |label| label.to_string())
}

fn address(frame: &Frame, entry: &ArchiveEntry) -> String {
    frame.to(&format!("e/{}/{}/", encoded(&entry.name), encoded(&entry.id)))
}

fn table(frame: &Frame, entries: &[&&ArchiveEntry]) -> Markup {
    html! {
        div.wide tabindex="0" { table.archive data-sort="" {
            thead { tr {
                @for heading in ["experiment", "begun", "label", "engines", "steps", "host", "runs"] {
                    th.text scope="col" { (heading) }
                }
            } }
            tbody { @for one in entries {
                tr {
                    th scope="row" {
                        @if frame.has_forms() {
                            @let id = format!("{}/{}", one.name, one.id);
                            input type="checkbox" form="compared" name="of" value=(id) aria-label=(format!("Compare {id}")); " "
                        }
                        a href=(address(frame, one)) { (one.name) }
                        small { (in_line(&one.question)) }
                        @if !one.answer.is_empty() { small { (one.answer) } }
                    }
                    td.text { (one.created_at.replace('T', " ").trim_end_matches('Z')) }
                    td.text { span class=(label_class(one.label)) { (label_text(one)) } }
                    td.text { (one.builds.join("\n")) }
                    td.text { (one.steps.join("\n")) }
                    td.text { (one.host) }
                    td.text data-value=(one.complete) { (one.complete) " of " (one.cells) }
                }
            } }
        } }
    }
}

/// Returns the class of a label; its text is there too.
const fn label_class(label: Option<Label>) -> &'static str {
    match label {
        Some(Label::True) => "label true",
        Some(Label::Truthy) => "label truthy",
        Some(Label::Undecided | Label::Bogus | Label::Nothing) => "label bogus",
        None => "label",
    }
}

fn form(entries: &[ArchiveEntry], filter: &ArchiveFilter) -> Markup {
    let each = |of: &dyn Fn(&ArchiveEntry) -> Vec<String>| -> BTreeSet<String> {
        entries.iter().flat_map(of).collect()
    };
    let builds = each(&|one| {
        let engines = one.builds.iter().filter_map(|build| build.split(' ').next());
        engines.map(ToOwned::to_owned).chain(one.builds.clone()).collect()
    });
    let selects = [
        ("build", "Engine", builds, &filter.build),
        ("step", "Step", each(&|one| one.steps.clone()), &filter.step),
        ("label", "Label", each(&|one| vec![label_text(one)]), &filter.label),
        ("host", "Host", each(&|one| vec![one.host.clone()]), &filter.host),
    ];
    html! {
        form.filter data-filter="" autocomplete="off" role="search" {
            label { "Search " input type="search" name="text" value=(filter.text); }
            details.more open[filter.is_narrow()] {
                summary { "More filters" }
                @for (name, title, options, chosen) in &selects {
                    label { (title) " " select name=(name) {
                        option value="" { "any" }
                        @for option in options {
                            option value=(option) selected[option == *chosen] { (option) }
                        }
                    } }
                }
                label { "First day " input type="date" name="from" value=(filter.from); }
                label { "Last day " input type="date" name="to" value=(filter.to); }
            }
            button { "Filter" } " " a href="./" { "Reset" }
        }
    }
}
