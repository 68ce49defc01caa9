//! Histories as text for a terminal.

use analysis::history::Studied;

use super::input::HistoryInput;
use super::sentence::{answer, change, drift, remarks, value};
use super::sparkline::sparkline;
use crate::comparison::fill;
use crate::format::Style;
use crate::trust::many;

/// Widest sparkline.
const SPARKLINE: usize = 60;

/// Returns the answer, then each history with sparkline, changes and remarks.
pub(super) fn render(input: &HistoryInput<'_>, style: Style) -> String {
    let study = input.study;
    let mut parts = vec![fill(&answer(study), style.width)];
    parts.extend(study.histories.iter().map(|one| history(one, style.width)));
    let mut together = Vec::new();
    for event in &study.events {
        let labels = &study.histories[event.histories[0]].history.labels;
        let names: Vec<&str> =
            event.histories.iter().map(|at| study.histories[*at].history.name.as_str()).collect();
        let names = names.join(", ");
        together
            .push(fill(&format!("One event at {}: {names}", labels[event.earliest]), style.width));
    }
    if !together.is_empty() {
        parts.push(together.join("\n"));
    }
    parts.extend(left_out(input, style.width));
    parts.join("\n\n") + "\n"
}

fn history(one: &Studied, width: usize) -> String {
    let history = &one.history;
    let whose = history.subject.as_ref().map(|of| format!("  {of}")).unwrap_or_default();
    let known = || history.values.iter().flatten().copied();
    let least = value(history, known().fold(f64::INFINITY, f64::min));
    let most = value(history, known().fold(f64::NEG_INFINITY, f64::max));
    let room = width.saturating_sub(least.len() + most.len() + 6).clamp(10, SPARKLINE);
    let (first, last) = (&history.labels[0], &history.labels[history.labels.len() - 1]);
    let points = many(history.values.len(), "point");
    let mut lines = vec![
        fill(&format!("{}{whose}  {points}, {first} to {last}", history.name), width),
        format!("  {}  {least} .. {most}", sparkline(&history.values, room)),
    ];
    let found = one.changes.iter().map(|it| (it.change.index, change(it, history)));
    let found = found.chain(one.found.drifts.iter().map(|it| (it.from, drift(it, history))));
    let mut found: Vec<(usize, String)> = found.collect();
    found.sort_by_key(|(index, _)| *index);
    let below = found.into_iter().map(|(_, line)| line).chain(remarks(one));
    lines.extend(below.map(|line| indented(&line, width)));
    lines.join("\n")
}

/// Returns a line broken to the width, two columns in; what is broken off four.
fn indented(line: &str, width: usize) -> String {
    let filled = fill(line, width.saturating_sub(4));
    format!("  {}", filled.replace('\n', "\n    "))
}

/// Returns what the archive left out, as one part; nothing when it left out nothing.
fn left_out(input: &HistoryInput<'_>, width: usize) -> Option<String> {
    let gathered = input.gathered?;
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
    Some(lines.iter().map(|line| fill(line, width)).collect::<Vec<_>>().join("\n"))
}
