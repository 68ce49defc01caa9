//! The comparison as a document, and its answer on one screen.

use analysis::IncompleteRun;
use model::units::many;
use model::{ShellCommand, metric};
use serde::Serialize;
use serde_json::json;

use super::buckets::histograms;
use super::level::levels_table;
use super::section::Section;
use super::tables::{absolute, costs, relative_in, requests, runs_table, written_legend};
use super::{
    BRACKETS, answer, availability, bucket_tables, csv, has_brackets, insert, machines, open,
    parts, search, sweep,
};
use crate::brief::{Brief, brief};
use crate::cuts;
use crate::document::{Document, Part, Rows, Table, merged};
use crate::findings::{folded, is_folded};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::label::{THROUGHPUT, incomplete_line, meaning, measured_steps, plain_steps};
use crate::legend::{runs_legend, sign_legend};
use crate::published::{self, publications};
use crate::report::Report;
use crate::sentence::{claim_sentences, control, detectable, hidden, step_sentences, warmup_trims};
use crate::trust::{explain_hint, finding_lines, headline, waived};

/// What the figures of the device are.
const DEVICE: &str = "device: requests and bytes of all processes; writes count if they reached \
                      the device by the end of the step";

/// CSV and JSON hold every metric; text and Markdown have the cost tables on request.
impl Report for Compared<'_> {
    fn document(&self, format: Format, style: Style) -> Document {
        let width = (format == Format::Text).then_some(style.width);
        document(self, width, style.has_costs)
    }

    fn rows(&self) -> Option<Rows> {
        Some(csv::rows(self))
    }

    /// Has the verdicts of the analysis: one whose effect `is_blocked` must not be drawn.
    fn data(&self) -> impl Serialize {
        let histograms = histograms(self);
        let histograms = (!histograms.is_empty()).then(|| json!({ "histograms": histograms }));
        let all = json!({
            "label": self.label,
            "waived": waived(self),
            "experiment": self.meta,
            "findings": self.findings,
            "comparison": self.comparison,
            "published": publications(self),
            "rate_curves": self.curves,
            "scalability": self.scalings,
        });
        merged([all].into_iter().chain(histograms).chain(availability::data(self)))
    }
}

/// Returns the label, the experiment and its facts.
pub(crate) fn head(compared: &Compared<'_>) -> Document {
    let meta = compared.meta;
    let facts = [
        Part::Strong(headline(compared)),
        Part::Heading(1, meta.title.clone()),
        Part::Text(meta.host.clone()),
        Part::Text(meta.durability.clone()),
    ];
    let disclaimer = meta.disclaimer.clone().map(Part::Text);
    Document::from([facts.into(), disclaimer.into_iter().collect()])
}

/// Returns label, step sentences, sections, legends, costs on request, warnings.
///
/// In a text of `width` columns the warnings that matter most; without a width all of them.
pub(crate) fn document(compared: &Compared<'_>, width: Option<usize>, has_costs: bool) -> Document {
    let comparison = compared.comparison;
    let base = &comparison.base;
    let has_several = comparison.variants.len() > 1;
    let mut document = head(compared);
    let sentences = step_sentences(compared).into_iter().chain(hidden(compared));
    document.add([Part::Sentences(sentences.collect())]);
    let mut shown: Vec<Section> = answer::parts(compared);
    if !plain_steps(comparison).is_empty() {
        let title = match comparison.runs_per_cell() {
            Some((_, 1)) => "Operations per second in n runs",
            _ => {
                "Operations per second: mean of n runs [min..max], which is a range and not an \
                  interval"
            }
        };
        let remarks: Vec<_> =
            has_brackets(compared).then(|| BRACKETS.to_owned()).into_iter().collect();
        let means = Section::of(title, [absolute(comparison)]);
        shown.extend(means.map(|section| Section { remarks, ..section }));
        let title = format!("Relative to {base}: ratio of the means [95 % interval]");
        let relative = || relative_in(compared, &plain_steps(comparison), THROUGHPUT);
        shown.extend(Section::of(title, has_several.then(relative)));
    }
    shown.extend(sections(compared));
    let has_signs = has_several && !shown.is_empty();
    shown.extend(machines::section(compared));
    shown.into_iter().for_each(|one| document.add(one.parts()));
    let mut notes = notes(compared, has_signs);
    notes.push(runs_legend(compared));
    document.add(notes.into_iter().map(Part::Note));
    if has_costs {
        let steps = measured_steps(comparison);
        let title = format!(
            "Costs per operation: means, marked where the verdict is above or below {base}"
        );
        let costs = Section::of(title, steps.iter().filter_map(|step| costs(compared, step)));
        let remarks = [DEVICE.to_owned()].into_iter().chain(written_legend(comparison)).collect();
        let costs = costs.map(|section| Section { remarks, ..section });
        document.add(costs.into_iter().flat_map(Section::parts));
        document.add(request_tables(compared).into_iter().flat_map(Section::parts));
        document.add(bucket_tables(compared).into_iter().flat_map(Section::parts));
        document.add(parts::details(compared).flat_map(Section::parts));
    }
    document.append(published::document(compared));
    document.append(problems(compared, width));
    document
}

/// Returns the requests of the device in each step; `None` where it had none.
pub(crate) fn request_tables(compared: &Compared<'_>) -> Option<Section> {
    let steps = measured_steps(compared.comparison);
    let title = "Requests of the device: means over the step, as `iostat -x` defines them";
    Section::of(title, steps.iter().filter_map(|step| requests(compared, step)))
}

/// Returns the sections of open loops, searches, sweeps, background writers and procedures.
pub(crate) fn sections(compared: &Compared<'_>) -> Vec<Section> {
    let mut sections = open::parts(compared);
    sections.extend(search::parts(compared));
    sections.extend(sweep::parts(compared));
    sections.extend(insert::part(compared));
    sections.extend(availability::section(compared));
    sections.extend(parts::procedures(compared));
    sections.extend(cuts::section(compared));
    sections
}

/// Returns what the named metrics mean, the legend of the signs, and notes.
pub(crate) fn notes(compared: &Compared<'_>, has_signs: bool) -> Vec<String> {
    let named = compared.comparison.answer.iter().filter_map(|name| metric::find(name));
    let mut notes: Vec<String> = named.map(meaning).collect();
    notes.extend(has_signs.then(|| sign_legend(compared)));
    notes.extend(detectable(compared).into_iter().chain(control(compared)));
    notes.extend(warmup_trims(compared));
    notes
}

/// Incomplete runs that a text names before the rest is only counted.
const INCOMPLETE_MAX: usize = 6;

/// Lines of the answer after a run: a terminal of fifty, less the next steps that follow.
const SCREEN: usize = 48;

/// Returns the one-screen answer: label, headlines, figures, ratios, legends and warnings.
///
/// Of the headlines those that fit, and at least the first.
pub fn render_answer(compared: &Compared<'_>, style: Style) -> String {
    let level = levels_table(compared.comparison);
    // The figures of a single variant are a table alone: there is nothing to compare them with.
    let plain = plain_steps(compared.comparison).into_iter().filter(|_| level.is_none());
    let sentences: Vec<_> = plain.flat_map(|step| claim_sentences(compared, step)).collect();
    let below = evidence(compared, level, style.width).text(style);
    let whole = |shown: usize| {
        let mut entries = sentences[..shown].to_vec();
        let (rest, name) = (sentences.len() - shown, &compared.meta.name);
        let command = ShellCommand::of("assay compare").operands([name]);
        entries.extend((rest > 0).then(|| format!("and {rest} more: {command}")));
        let mut document = Document::from([vec![Part::Text(headline(compared))]]);
        document.add([Part::Sentences(entries)]);
        format!("{}\n{below}", document.text(style))
    };
    let fewest = sentences.len().min(1);
    let texts = (fewest..=sentences.len()).rev().map(whole);
    let mut texts = texts.skip_while(|text| text.lines().count() > SCREEN);
    texts.next().unwrap_or_else(|| whole(fewest))
}

/// Returns what stands below the headlines on the screen.
///
/// Bytes written per byte put are all that the engine wrote over all steps, log included: the one
/// definition that is the same for every engine and durability class.
fn evidence(compared: &Compared<'_>, level: Option<Table>, width: usize) -> Document {
    let mut document = Document::default();
    for section in sweep::parts(compared) {
        let tables = section.tables.into_iter().map(Part::Table);
        document.add([Part::Sentences(section.sentences)].into_iter().chain(tables));
    }
    let written = written_legend(compared.comparison).filter(|_| level.is_none());
    let of_runs = || {
        let steps = measured_steps(compared.comparison);
        runs_table(compared, &steps).without_details()
    };
    document.add([Part::Table(level.unwrap_or_else(of_runs))]);
    let loads = open::parts(compared).into_iter().chain(search::parts(compared));
    let sentences = loads.flat_map(|part| part.sentences).chain(hidden(compared));
    document.add([Part::Sentences(sentences.collect())]);
    let mut notes = notes(compared, compared.comparison.variants.len() > 1);
    notes.extend(has_brackets(compared).then(|| BRACKETS.to_owned()));
    notes.extend(written);
    notes.extend([compared.meta.durability.clone(), runs_legend(compared)]);
    notes.extend(compared.meta.disclaimer.clone());
    document.add(notes.into_iter().map(Part::Note));
    document.append(published::document(compared));
    document.append(problems(compared, Some(width)));
    document
}

/// Returns incomplete runs and warnings; a text of `width` columns has those that matter most.
///
/// Without a width all findings are there, and what follows from the size `minutes` alone is one
/// line.
pub(crate) fn problems(compared: &Compared<'_>, width: Option<usize>) -> Document {
    let titled =
        |title: &str, entries: Vec<String>| Part::title(title).above([Part::Items(entries)]);
    let mut document = Document::default();
    let mut runs: Vec<&IncompleteRun> = compared.comparison.incomplete.iter().collect();
    // What failed a check comes first; the others stay in their order.
    runs.sort_by_key(|run| !run.has_failed_check);
    let mut incomplete: Vec<String> = runs.into_iter().map(incomplete_line).collect();
    let rest = incomplete.len().saturating_sub(width.map_or(usize::MAX, |_| INCOMPLETE_MAX));
    if rest > 0 {
        incomplete.truncate(INCOMPLETE_MAX);
        incomplete.push(format!("assay list shows {}.", many(rest, "more incomplete run")));
    }
    document.add(titled("Incomplete runs", incomplete));
    if let Some(width) = width {
        let Brief { mut entries, rest } = brief(compared, width);
        if entries.is_empty() {
            document.add(rest.map(Part::Text));
        } else {
            entries.extend(rest);
            document.add(titled("Warnings", entries));
        }
        return document;
    }
    let (findings, size) = (compared.findings, compared.meta.size.as_deref());
    let mut warnings = finding_lines(findings.iter().filter(|one| !is_folded(size, one)));
    warnings.extend(folded(size, findings));
    let hint = explain_hint(findings).map(Part::Text);
    document.add(titled("Warnings", warnings).into_iter().chain(hint));
    document
}
