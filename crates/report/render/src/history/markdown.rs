//! Histories as Markdown: one table of changes and drifts.

use super::input::HistoryInput;
use super::sentence::{answer, arrow, percent, remarks, trend, value};
use crate::figure::limits;
use crate::table::{Cell, Table};
use crate::trust::many;

/// Returns the answer, the table, and the remarks on each history.
pub(super) fn render(input: &HistoryInput<'_>) -> String {
    let study = input.study;
    let mut table =
        Table::new(["metric", "at", "", "before", "after", "change", "95 %", "points", "is"]);
    table.align_left(&[1, 2, 8]);
    let mut remarks_of_all = Vec::new();
    for one in &study.histories {
        let history = &one.history;
        for classified in &one.changes {
            let change = &classified.change;
            let row = [
                history.name.clone(),
                history.labels[change.index].clone(),
                arrow(change.after > change.before).to_owned(),
                value(history, change.before),
                value(history, change.after),
                percent(change.effect),
                limits(percent(change.low), percent(change.high)),
                change.points.to_string(),
                trend(classified.trend).to_owned(),
            ];
            table.push(row.map(Cell::plain).to_vec());
        }
        for drift in &one.found.drifts {
            let row = [
                history.name.clone(),
                format!("{} to {}", history.labels[drift.from], history.labels[drift.to]),
                "drift".to_owned(),
                value(history, drift.before),
                value(history, drift.after),
                percent(drift.effect),
                String::new(),
                (drift.to - drift.from).to_string(),
                drift.effect.map(|effect| trend(history.trend(effect))).unwrap_or("").to_owned(),
            ];
            table.push(row.map(Cell::plain).to_vec());
        }
        let points = many(history.values.len(), "point");
        let whose = history.subject.as_ref().map(|of| format!(", {of}")).unwrap_or_default();
        let remarks_text =
            remarks(one).into_iter().map(|line| format!("; {line}")).collect::<String>();
        remarks_of_all.push(format!("- `{}`{whose}: {points}{remarks_text}", history.name));
    }
    format!("{}\n\n{}\n\n{}\n", answer(study), table.markdown(), remarks_of_all.join("\n"))
}
