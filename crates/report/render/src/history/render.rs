//! Histories as a report.

use analysis::history::{Gathered, HostChange, MIN_VALUES, Studied, Study};
use serde::Serialize;

use super::data;
use super::sentence::{answer, change, drift, histories, remarks, too_short, value};
use crate::document::{Document, Part, Rows};
use crate::format::{Format, Style};
use crate::plot;
use crate::report::Report;
use crate::sparkline::sparkline;
use model::units::many;

/// Widest sparkline.
const SPARKLINE: usize = 60;
/// Short histories that are named.
const TOO_SHORT_SHOWN: usize = 5;

/// A study with what the archive left out.
#[derive(Debug, Clone, Copy)]
pub struct HistoryInput<'a> {
    /// The study.
    pub study: &'a Study,
    /// What the archive left out; `None` for histories from elsewhere.
    pub gathered: Option<&'a Gathered>,
}

impl Report for HistoryInput<'_> {
    fn document(&self, _: Format, style: Style) -> Document {
        lines(self, style.width)
    }

    fn rows(&self) -> Option<Rows> {
        Some(data::rows(self.study))
    }

    fn data(&self) -> impl Serialize {
        data::data(self.study, self.gathered)
    }
}

/// Returns the picture of the histories, as an SVG file.
pub fn plot_history(input: &HistoryInput<'_>) -> String {
    plot::histories(&input.study.histories).file()
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
    end(input).into_iter().for_each(|lines| document.add([Part::Sentences(lines)]));
    document
}

/// Returns what follows all histories: what is unknown, and what the archive left out.
pub(crate) fn end(input: &HistoryInput<'_>) -> [Vec<String>; 2] {
    [unknown(input), input.gathered.map(left_out).unwrap_or_default()]
}

/// Returns what the histories leave open: order, short histories, the newest point.
fn unknown(input: &HistoryInput<'_>) -> Vec<String> {
    let study = input.study;
    let mut lines = Vec::new();
    let mut all = study.histories.iter().map(|one| &one.history).chain(&study.too_short);
    if all.any(|one| !one.is_order_checked) {
        lines.push(
            "the order is not checked, because the labels are not times, numbers or versions; the \
             first point must be the oldest"
                .to_owned(),
        );
    }
    if study.is_newest_unknown(input.gathered) {
        lines.push(
            "The newest point has no value, so it is unknown whether the point is a regression."
                .into(),
        );
    }
    if !study.too_short.is_empty() {
        let named: Vec<String> =
            study.too_short.iter().take(TOO_SHORT_SHOWN).map(too_short).collect();
        let more = if study.too_short.len() > TOO_SHORT_SHOWN { ", ..." } else { "" };
        lines.push(format!(
            "{} left out, fewer than {MIN_VALUES} values: {}{more}",
            histories(study.too_short.len()),
            named.join(", ")
        ));
    }
    lines
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

/// Returns a setting of the host that changed, as a sentence.
pub(crate) fn host_change(one: &HostChange) -> String {
    let (setting, from, to) = (&one.setting, &one.from, &one.to);
    format!("{setting} changed between {from} and {to}: {} -> {}", one.before, one.after)
}

/// Returns what the archive left out.
fn left_out(gathered: &Gathered) -> Vec<String> {
    let mut lines = vec![format!("Host: {}", gathered.host)];
    lines.extend(gathered.host_changes.iter().map(host_change));
    if gathered.other_hosts > 0 {
        let others = many(gathered.other_hosts, "experiment");
        lines.push(format!("{others} on other hosts are left out: choose a host with --host"));
    }
    if gathered.other_questions > 0 {
        let others = many(gathered.other_questions, "point");
        let names: Vec<&str> = gathered.differences.iter().map(String::as_str).collect();
        let names = names.join(", ");
        let newest = "because they differ from the newest point of the same name";
        lines.push(format!("{others} are left out, {newest} in: {names}"));
    }
    lines
}
