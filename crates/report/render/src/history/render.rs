//! Histories as a document, and in a requested format.

use analysis::history::{Gathered, Studied, Study};

use super::input::HistoryInput;
use super::sentence::{answer, arrow, change, drift, drift_trend, percent, remarks, trend, value};
use super::sparkline::sparkline;
use super::{csv, json};
use crate::document::{Document, Part, Table};
use crate::figure::limits;
use crate::format::{Format, Style};
use crate::plot;
use crate::trust::many;

/// Widest sparkline.
const SPARKLINE: usize = 60;

/// Returns the changes in `format`; `style` matters to text.
#[must_use]
pub fn render_history(input: &HistoryInput<'_>, format: Format, style: Style) -> String {
    match format {
        Format::Text => lines(input, style.width).render(format, style),
        Format::Markdown => tables(input.study).render(format, style),
        Format::Csv => csv::render(input.study),
        Format::Json => json::render(input),
    }
}

/// Returns the picture of the histories, as an SVG file.
#[must_use]
pub fn plot_history(input: &HistoryInput<'_>) -> String {
    plot::histories(input.study).file()
}

/// Returns the answer, then each history with sparkline, changes and remarks.
fn lines(input: &HistoryInput<'_>, width: usize) -> Document {
    let study = input.study;
    let mut document = Document::from([vec![Part::Text(answer(study))]]);
    study.histories.iter().for_each(|one| document.add(history(one, width)));
    let together = study.events.iter().map(|event| {
        let labels = &study.histories[event.histories[0]].history.labels;
        let names: Vec<&str> =
            event.histories.iter().map(|at| study.histories[*at].history.name.as_str()).collect();
        format!("One event at {}: {}", labels[event.earliest], names.join(", "))
    });
    document.add([Part::Sentences(together.collect())]);
    document.add([Part::Sentences(input.gathered.map(left_out).unwrap_or_default())]);
    document
}

fn history(one: &Studied, width: usize) -> [Part; 2] {
    let history = &one.history;
    let whose = history.subject.as_ref().map(|of| format!("  {of}")).unwrap_or_default();
    let known = || history.values.iter().flatten().copied();
    let least = value(history, known().fold(f64::INFINITY, f64::min));
    let most = value(history, known().fold(f64::NEG_INFINITY, f64::max));
    let room = width.saturating_sub(least.len() + most.len() + 6).clamp(10, SPARKLINE);
    let (first, last) = (&history.labels[0], &history.labels[history.labels.len() - 1]);
    let points = many(history.values.len(), "point");
    let found = one.changes.iter().map(|it| (it.change.index, change(it, history)));
    let found = found.chain(one.found.drifts.iter().map(|it| (it.from, drift(it, history))));
    let mut found: Vec<(usize, String)> = found.collect();
    found.sort_by_key(|(index, _)| *index);
    let mut items = vec![format!("{}  {least} .. {most}", sparkline(&history.values, room))];
    items.extend(found.into_iter().map(|(_, line)| line).chain(remarks(one)));
    let title = format!("{}{whose}  {points}, {first} to {last}", history.name);
    [Part::Text(title), Part::Items(items)]
}

/// Returns what the archive left out.
fn left_out(gathered: &Gathered) -> Vec<String> {
    let mut lines = vec![format!("Host: {}", gathered.host)];
    if gathered.other_hosts > 0 {
        let others = many(gathered.other_hosts, "experiment");
        lines.push(format!("{others} on other hosts left out: choose with --host"));
    }
    if gathered.other_questions > 0 {
        let others = many(gathered.other_questions, "point");
        lines.push(format!(
            "{others} left out: rows, steps, memory or options were not those of the newest \
             experiment of that name"
        ));
    }
    if gathered.too_short > 0 {
        let short = gathered.too_short;
        lines.push(format!("{short} left out for having fewer than 4 points"));
    }
    lines
}

/// Returns the answer, one table of changes and drifts, and the remarks on each history.
fn tables(study: &Study) -> Document {
    let headings = ["metric", "<at", "<", "before", "after", "change", "95 %", "points", "<is"];
    let mut table = Table::new(headings);
    let mut notes = Vec::new();
    for one in &study.histories {
        let (history, labels) = (&one.history, &one.history.labels);
        for classified in &one.changes {
            let change = &classified.change;
            table.push([
                history.name.clone(),
                labels[change.index].clone(),
                arrow(change.after > change.before).to_owned(),
                value(history, change.before),
                value(history, change.after),
                percent(change.effect),
                limits(percent(change.low), percent(change.high)),
                change.points.to_string(),
                trend(classified.trend).to_owned(),
            ]);
        }
        for drift in &one.found.drifts {
            table.push([
                history.name.clone(),
                format!("{} to {}", labels[drift.from], labels[drift.to]),
                "drift".to_owned(),
                value(history, drift.before),
                value(history, drift.after),
                percent(drift.effect),
                String::new(),
                (drift.to - drift.from).to_string(),
                drift_trend(drift, history).to_owned(),
            ]);
        }
        let points = many(history.values.len(), "point");
        let whose = history.subject.as_ref().map(|of| format!(", {of}")).unwrap_or_default();
        let notes_of_one = [format!("`{}`{whose}: {points}", history.name)];
        notes.push(notes_of_one.into_iter().chain(remarks(one)).collect::<Vec<_>>().join("; "));
    }
    let parts = vec![Part::Text(answer(study)), Part::Table(table), Part::Items(notes)];
    Document::from([parts])
}
