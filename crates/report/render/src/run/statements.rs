//! The statements of a server by step: time in it, rows, and the client's time.

use model::{Application, StatementRecord, StepRecord};

use crate::document::{Part, Table, known};
use crate::figure::{count, digits};
use crate::validity::span;

/// Returns a row per step and statement with totals; nothing where no server collects them.
pub(super) fn statements(steps: &[&StepRecord], application: Option<&Application>) -> Vec<Part> {
    let mut table = Table::new([
        "step",
        "<procedure",
        "statement",
        "calls",
        "server\n/call",
        "rows\n/call",
        "examined\n/call",
        "pages\n/call",
        "client's mean\nby kind",
    ]);
    let mut is_empty = true;
    for step in steps {
        for row in step.statements.iter().filter_map(|one| row(step, one, application)) {
            is_empty = false;
            table.push(row);
        }
    }
    if is_empty {
        return Vec::new();
    }
    let title = "Statements as the server counts them, warm-up included; the client's mean service \
                 time is that of all operations of the procedure's kind";
    vec![Part::Text(title.to_owned()), Part::Table(table)]
}

fn row(
    step: &StepRecord,
    one: &StatementRecord,
    application: Option<&Application>,
) -> Option<Vec<String>> {
    let totals = one.totals?;
    let per_call = |of: f64| digits(of / totals.calls as f64);
    let procedures = application.map_or(&[][..], |application| &application.procedures);
    let kind = procedures.iter().find(|procedure| procedure.name == one.procedure);
    let mean_ns = kind.and_then(|procedure| {
        let groups = [&step.clients, &step.writers];
        let summary = groups.into_iter().find_map(|group| group.get(&procedure.kind))?;
        Some(summary.service.mean_ns)
    });
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of a run")]
    let time = |ns: f64| span(ns as u64);
    Some(vec![
        step.step.name.clone(),
        one.procedure.clone(),
        one.number.to_string(),
        count(totals.calls),
        time(1e3 * totals.server_us / totals.calls as f64),
        per_call(totals.rows as f64),
        known(totals.examined.map(|rows| per_call(rows as f64))),
        known(totals.pages.map(|pages| per_call(pages as f64))),
        known(mean_ns.map(time)),
    ])
}

#[cfg(test)]
mod tests {
    use model::{StatementTotals, Step, StopRule};

    use super::*;
    use crate::document::Document;
    use crate::format::{Format, Style};

    #[test]
    fn totals_are_shown_per_call_and_only_where_they_are_known() {
        let mut step = StepRecord::new(0, Step::new("q100", StopRule::Operations(9)));
        let text = |step: &StepRecord| {
            Document::from([statements(&[step], None)]).render(Format::Text, Style::default())
        };
        let mut one =
            StatementRecord { procedure: "market".to_owned(), number: 1, ..Default::default() };
        step.statements = vec![one.clone()];
        assert_eq!(text(&step).trim(), "");
        one.totals = Some(StatementTotals {
            calls: 200,
            server_us: 9_000.0,
            rows: 2_000,
            examined: None,
            pages: Some(800),
        });
        step.statements = vec![one];
        let shown = text(&step);
        let row = shown.lines().find(|line| line.contains("market")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        let expected =
            ["q100", "market", "1", "200", "45.0", "\u{b5}s", "10.0", "NA", "4.00", "NA"];
        assert_eq!(cells, expected, "{shown}");
    }
}
