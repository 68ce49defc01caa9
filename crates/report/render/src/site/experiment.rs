//! The page of an experiment, or of several that are compared: one part at a time.

use analysis::StepComparison;
use maud::{Markup, html};
use model::{Load, StopRule};

use super::Frame;
use super::chart::Figure;
use super::difference::differences;
use super::part::PagePart;
use super::view::{View, encoded, percent};
use crate::comparison::{TRADE_OFFS, trade_offs};
use crate::document::{Part, html as markup};
use crate::html::{
    answer_section, costs, everything, explained, figures, header, how_it_was_done, memory_section,
    published, shape_section, warnings,
};
use crate::input::{Compared, ReportInput};
use crate::label::measured_steps;
use crate::plot::{self, Subject, by_second, overview, times};
use crate::published::TITLE as PUBLISHED;
use crate::where_cpu;

/// An experiment as one part of its page shows it.
pub struct ExperimentPage<'a> {
    /// Its records with their comparison.
    pub input: ReportInput<'a>,
    /// The comparison with the findings.
    pub compared: &'a Compared<'a>,
    /// What is selected.
    pub view: &'a View,
    /// The part that is shown.
    pub part: PagePart,
    /// Relative address of the experiment's directory, from the page.
    pub home: &'a str,
    /// The query that names what is compared, where the address does not; otherwise empty.
    pub names: &'a [String],
    /// Whether a process is writing runs of it.
    pub is_running: bool,
}

const SECONDS: &str = "One line per run, without warm-up; shaded seconds do not count.";
const CURVE: &str = "One curve per variant, all its counted runs together: the share of operations \
                     that took at most so long.";
const HEAT: &str = "Darker: more operations of that latency in that time. All runs of the variant \
                    that lasted so long, without warm-up.";

/// Returns the page.
pub fn experiment_page(page: &ExperimentPage<'_>, frame: &Frame) -> String {
    let title = format!("{} \u{b7} {}", page.compared.meta.title, page.part.title());
    let body = html! {
        (header(&page.input, page.compared, &page.address(PagePart::Warnings)))
        @if page.is_running {
            p.running { a href=(format!("{}live/", page.home)) { "Runs of it are in progress: watch them" } }
        }
        (tabs(page))
        @if frame.has_forms() && page.part != PagePart::How { (selectors(page)) }
        main { @for one in sections(page) {
            section id=(one.id) { h2 { (one.title) } (one.body) }
        } }
        footer {
            @if page.names.is_empty() {
                "Download: "
                @for format in ["csv", "md", "json"] {
                    a href=(format!("{}table.{format}{}", page.home, page.view.query())) download { (format) } " "
                }
                a href=(format!("{}report.html", page.home)) download { "report in one file" } " \u{b7} "
                @if frame.has_script && !page.is_running {
                    a href=(format!("{}live/", page.home)) { "Replay the runs" } " \u{b7} "
                }
            }
            "Made by Assay " (page.input.manifest.assay_version) " from " code { (page.compared.meta.id) }
        }
    };
    frame.page(&title, if page.names.is_empty() { "" } else { "compare/" }, &body)
}

impl ExperimentPage<'_> {
    /// Returns the address of a part, with the same selection.
    fn address(&self, part: PagePart) -> String {
        let path = part.path();
        let slash = if path.is_empty() { "" } else { "/" };
        let query = self.query();
        let address = format!("{}{path}{slash}{query}", self.home);
        if address.is_empty() { "./".to_owned() } else { address }
    }

    /// Returns the query of the selection, and of what is compared.
    fn query(&self) -> String {
        let own = self.view.query();
        let names = self.names.iter().map(|name| format!("of={}", encoded(name)));
        let names: Vec<String> = names.collect();
        match (names.is_empty(), own.strip_prefix('?')) {
            (true, _) => own,
            (false, None) => format!("?{}", names.join("&")),
            (false, Some(own)) => format!("?{}&{own}", names.join("&")),
        }
    }

    /// Returns the address of a chart's data.
    fn chart(&self, name: &str) -> String {
        format!("{}chart/{name}.json{}", self.home, self.query())
    }
}

/// A section of a page.
struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

fn sections(page: &ExperimentPage<'_>) -> Vec<Section> {
    let view = page.view;
    let has_step = |name: &str| view.has_step(name);
    let part = page.compared.comparison.narrowed(&has_step, &|name| view.has_variant(name));
    let compared = &page.compared.narrowed(&part);
    let input = &ReportInput { comparison: &part, ..page.input };
    let subject = Subject::of(*input, compared);
    let own =
        |body: Vec<Part>| Section { id: "part", title: page.part.title(), body: markup(&body) };
    let titled = |id, title, body: Vec<Part>| {
        (!body.is_empty()).then(|| Section { id, title, body: markup(&body) })
    };
    match page.part {
        PagePart::Answer => {
            let differences = differences(page.compared, page.view);
            let all = [
                titled("differences", "Differences", differences),
                titled("answer", "The figures", answer_section(compared)),
                titled("published", PUBLISHED, published(compared)),
                titled("pictures", "The evidence", figures(overview(&subject))),
            ];
            all.into_iter().flatten().collect()
        }
        PagePart::Seconds => vec![Section { body: seconds(page, &subject), ..own(Vec::new()) }],
        PagePart::Latency => vec![Section { body: latency(page, &subject), ..own(Vec::new()) }],
        PagePart::Costs => {
            let all = [
                titled("costs", "What it costs", costs(input, compared, plot::costs(&subject))),
                titled("trade-offs", TRADE_OFFS, trade_offs(compared)),
                titled("shape", "Shape of the trees", shape_section(input)),
                titled("memory", "Memory", memory_section(input)),
            ];
            all.into_iter().flatten().collect()
        }
        PagePart::Explained => {
            let flame = titled("flame", where_cpu::TITLE, where_cpu::section(input, compared));
            [own(explained(input, compared))].into_iter().chain(flame).collect()
        }
        PagePart::Timelines => {
            let pictures = plot::timelines(&plot::timed(&subject));
            let none = "No engine or server reported its work second by second.";
            let none = pictures.is_empty().then(|| Part::Text(none.to_owned()));
            vec![own(none.into_iter().chain(figures(pictures)).collect())]
        }
        PagePart::Warnings => vec![own(warnings(compared))],
        PagePart::How => {
            let more = titled("more", "Everything else", everything(input, compared));
            [Some(own(how_it_was_done(input, compared))), more].into_iter().flatten().collect()
        }
    }
}

/// Draws throughput by second, a chart for each step.
fn seconds(page: &ExperimentPage<'_>, subject: &Subject<'_>) -> Markup {
    html! {
        @for (column, step) in subject.steps.iter().enumerate() {
            @let place = place(page, step);
            @let one = subject.only(|other| std::ptr::eq(other, *step));
            @let [throughput, longest] = by_second(&one);
            @let throughput_is_drawn = throughput.is_some();
            @if throughput_is_drawn {
                (Figure {
                    id: format!("seconds-{place}"),
                    address: page.chart(&format!("seconds-{place}")),
                    title: format!("{}: throughput", subject.headings[column]),
                    caption: SECONDS,
                    sync: Some("time"),
                    picture: throughput,
                    table: Vec::new(),
                }.markup())
            }
            @let is_drawn = throughput_is_drawn || longest.is_some();
            @if let Some(longest) = longest { (longest.figure()) }
            @if !is_drawn { p { (subject.headings[column]) ": the step is too short for a picture by second." } }
        }
    }
}

/// Draws percentiles of each step, and a heat map of each variant; storage has no histograms.
fn latency(page: &ExperimentPage<'_>, subject: &Subject<'_>) -> Markup {
    let is_storage = page.input.manifest.plan.experiment.device.is_some();
    html! {
        @for (column, step) in subject.steps.iter().enumerate() {
            @let place = place(page, step);
            @let one = subject.only(|other| std::ptr::eq(other, *step));
            @if is_storage { @if let Some(picture) = times(&one) { (picture.figure()) } }
            @else { (Figure {
                id: format!("percentiles-{place}"),
                address: page.chart(&format!("percentiles-{place}")),
                title: format!("{}: percentiles", subject.headings[column]),
                caption: CURVE,
                sync: None,
                picture: times(&one),
                table: Vec::new(),
            }.markup()) }
            @if !is_storage && is_timed(page, step.index) {
                details {
                    summary { (subject.headings[column]) ": latency over time" }
                    @for cell in &step.cells {
                        @let row = row(page, &cell.variant);
                        (Figure {
                            id: format!("heat-{place}-{row}"),
                            address: page.chart(&format!("heat-{place}-{row}")),
                            title: cell.variant.clone(),
                            caption: HEAT,
                            sync: Some("heat"),
                            picture: None,
                            table: Vec::new(),
                        }.markup())
                    }
                }
            }
        }
    }
}

/// Returns the place of a step among those of the whole comparison, as addresses of charts have it.
fn place(page: &ExperimentPage<'_>, step: &StepComparison) -> usize {
    let is_same =
        |other: &&StepComparison| (other.index, other.clients) == (step.index, step.clients);
    let mut whole = measured_steps(page.compared.comparison).into_iter();
    whole.position(|other| is_same(&other)).unwrap_or_default()
}

/// Returns the place of a variant among those of the whole comparison.
fn row(page: &ExperimentPage<'_>, variant: &str) -> usize {
    let mut whole = page.compared.comparison.variants.iter();
    whole.position(|other| other.name == variant).unwrap_or_default()
}

/// Returns whether a step lasts a time, and searches nothing.
fn is_timed(page: &ExperimentPage<'_>, index: u32) -> bool {
    let step = page.input.manifest.plan.experiment.steps.get(index as usize);
    step.is_some_and(|step| {
        let is_search = matches!(step.load, Load::FindRate(_) | Load::FindClients);
        matches!(step.stop, StopRule::Duration(_)) && !is_search
    })
}

fn tabs(page: &ExperimentPage<'_>) -> Markup {
    html! {
        nav.parts aria-label="Parts" {
            @for part in PagePart::ALL {
                a href=(page.address(part)) aria-current=[(part == page.part).then_some("page")] {
                    (part.title())
                }
            }
        }
    }
}

/// Returns the form of the selection.
fn selectors(page: &ExperimentPage<'_>) -> Markup {
    let (comparison, view) = (page.compared.comparison, page.view);
    let experiment = &page.input.manifest.plan.experiment;
    let mut steps: Vec<&str> = Vec::new();
    for step in comparison.steps.iter().map(|step| step.name.as_str()) {
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    let metrics = known_metrics(page);
    let margin = percent(comparison.margin);
    html! {
        form.view data-auto="" autocomplete="off" aria-label="What is shown" {
            @for name in page.names { input type="hidden" name="of" value=(name); }
            label { "Base " select name="base" {
                @for variant in &experiment.variants {
                    option value=(variant.name) selected[variant.name == comparison.base] { (variant.name) }
                }
            } }
            label { "Metric " select name="metric" {
                option value="" { "of the question" }
                @for metric in &metrics {
                    option value=(metric) selected[view.metric.is_some_and(|it| it.name == *metric)] { (metric) }
                }
            } }
            label { "Margin " input name="margin" value=(margin) size="5"; }
            label { input type="checkbox" name="only" value="differing" checked[view.only_differing]; " only what differs" }
            (checks("step", &steps, &|name| view.has_step(name)))
            @let variants: Vec<&str> = comparison.variants.iter().map(|it| it.name.as_str()).collect();
            (checks("variant", &variants, &|name| view.has_variant(name)))
            button { "Show" } " "
            @if !view.query().is_empty() { a href=(page.reset()) { "Reset" } }
        }
    }
}

impl ExperimentPage<'_> {
    /// Returns the address of this part with nothing selected.
    fn reset(&self) -> String {
        let plain = ExperimentPage { view: &View::default(), ..*self };
        plain.address(self.part)
    }
}

/// Returns check boxes below their summary, which counts what is selected.
fn checks(name: &str, all: &[&str], is_chosen: &dyn Fn(&str) -> bool) -> Markup {
    let chosen = all.iter().filter(|one| is_chosen(one)).count();
    html! {
        @if all.len() > 1 {
            details.checks open[chosen < all.len()] {
                summary { (chosen) " of " (all.len()) " " (name) "s" }
                @for one in all {
                    label { input type="checkbox" name=(name) value=(one) checked[is_chosen(one)]; " " (one) }
                }
            }
        }
    }
}

/// Returns the metrics with a ratio in any step, in the order of the reference.
fn known_metrics(page: &ExperimentPage<'_>) -> Vec<&'static str> {
    let cells = || page.compared.comparison.steps.iter().flat_map(|step| &step.cells);
    let has_ratio = |name: &str| {
        cells().any(|cell| cell.metric(name).is_some_and(|it| it.versus_base.is_some()))
    };
    model::metric::METRICS.iter().map(|metric| metric.name).filter(|name| has_ratio(name)).collect()
}
