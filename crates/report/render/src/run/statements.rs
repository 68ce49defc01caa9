//! The statements of an application by step: the clients' times, and the server's totals.

use std::collections::BTreeSet;

use model::record::Percentiles;
use model::{StatementRecord, StepRecord};

use crate::document::{Part, Table, known};
use crate::figure::{count, digits};
use crate::validity::span;

/// Columns behind step, procedure and statement.
const COLUMNS: [&str; 10] = [
    "calls",
    "service\nmean",
    "\np50",
    "\np99",
    "\nmax",
    "server's\ncalls",
    "server\n/call",
    "rows\n/call",
    "examined\n/call",
    "pages\n/call",
];

/// Returns a row per step and statement that was executed, and notes on what the server counts.
pub(super) fn statements(steps: &[&StepRecord]) -> Vec<Part> {
    let mut table = Table::new(["step", "<procedure", "statement"].into_iter().chain(COLUMNS));
    let mut notes = Vec::new();
    for step in steps {
        for one in &step.statements {
            let timing = timing(step, one);
            if timing.is_some() || one.totals.is_some() {
                table.push(row(step, one, timing));
            }
        }
        notes.extend(shared(step));
        notes.extend(uncounted(step));
    }
    let title = "By statement, left: as the clients time it in calls that began in the measured \
                 span (all attempts, to 10 %); right: as the server counts it, including the \
                 warm-up";
    let notes = notes.into_iter().map(Part::Text);
    match table.rows() {
        0 => Vec::new(),
        _ => Part::Text(title.to_owned()).above([Part::Table(table)].into_iter().chain(notes)),
    }
}

/// Returns the clients' times of a statement; `None` where they executed none in a measured call.
fn timing<'a>(step: &'a StepRecord, one: &StatementRecord) -> Option<&'a Percentiles> {
    step.procedures.iter().find(|it| it.name == one.procedure)?.timing(one.number)
}

/// Returns which statements of a step the server counts as one.
fn shared(step: &StepRecord) -> BTreeSet<String> {
    let is_marked = |one: &&StatementRecord| one.totals.is_some() && !one.shared_with.is_empty();
    let note = |one: &StatementRecord| {
        let mut names = one.shared_with.clone();
        names.push(one.name());
        names.sort();
        let name = &step.step.name;
        format!("* {name}: the server counts these statements as one: {}", names.join(", "))
    };
    step.statements.iter().filter(is_marked).map(note).collect()
}

/// Returns which statements the clients executed and the server did not count, if any.
fn uncounted(step: &StepRecord) -> Option<String> {
    let is_missing = |one: &&StatementRecord| one.totals.is_none() && timing(step, one).is_some();
    let missing: Vec<_> = step.statements.iter().filter(is_missing).collect();
    let name = &step.step.name;
    if missing.is_empty() {
        return None;
    }
    if step.statements.iter().all(|one| one.totals.is_none()) {
        return Some(format!("{name}: the server's statistics contain no call of its statements"));
    }
    let missing: Vec<_> = missing.into_iter().map(StatementRecord::name).collect();
    Some(format!("{name}: the server's statistics contain no call of {}", missing.join(", ")))
}

fn row(step: &StepRecord, one: &StatementRecord, timing: Option<&Percentiles>) -> Vec<String> {
    let mut row = vec![step.step.name.clone(), one.procedure.clone(), one.number.to_string()];
    row.push(known(timing.map(|timing| count(timing.count))));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of a run")]
    let time = |ns: f64| span(ns as u64);
    row.push(known(timing.map(|timing| time(timing.mean_ns))));
    let times = timing.map(|it| [it.p50_ns, it.p99_ns, it.max_ns]);
    row.extend((0..3).map(|at| known(times.map(|times| span(times[at])))));
    let mark = if one.shared_with.is_empty() { "" } else { "*" };
    row.push(known(one.totals.map(|totals| count(totals.calls) + mark)));
    let per_call = |of: Option<f64>| Some(of? / one.totals?.calls as f64);
    row.push(known(per_call(one.totals.map(|totals| 1e3 * totals.server_us)).map(time)));
    let totals = one.totals.unwrap_or_default();
    for amount in [one.totals.map(|totals| totals.rows), totals.examined, totals.pages] {
        row.push(known(per_call(amount.map(|amount| amount as f64)).map(digits)));
    }
    row
}

#[cfg(test)]
mod tests {
    use model::record::{ProcedureRecord, StatementTiming};
    use model::{StatementTotals, Step, StopRule};

    use super::*;
    use crate::document::Document;
    use crate::style::Style;

    fn shown(step: &StepRecord) -> String {
        Document::from([statements(&[step])]).text(Style::default())
    }

    fn statement(number: u32) -> StatementRecord {
        StatementRecord { procedure: "market".to_owned(), number, ..Default::default() }
    }

    fn step() -> StepRecord {
        let mut step = StepRecord::new(0, Step::new("q100", StopRule::Operations(9)));
        step.statements = vec![statement(1), statement(2)];
        step
    }

    /// Totals of 200 calls.
    fn totals() -> Option<StatementTotals> {
        Some(StatementTotals {
            calls: 200,
            server_us: 9_000.0,
            rows: 2_000,
            examined: None,
            pages: Some(800),
        })
    }

    #[test]
    fn times_and_totals_are_shown_by_statement_and_only_where_they_are_known() {
        let mut step = step();
        assert_eq!(shown(&step).trim(), "");
        step.statements[0].totals = totals();
        let service = Percentiles {
            count: 190,
            mean_ns: 65_000.0,
            p50_ns: 60_000,
            p99_ns: 90_000,
            max_ns: 900_000,
            ..Percentiles::default()
        };
        let timed = |number| StatementTiming { number, service };
        step.procedures = vec![ProcedureRecord {
            name: "market".to_owned(),
            statements: vec![timed(1), timed(2)],
            ..ProcedureRecord::default()
        }];
        let text = shown(&step);
        let cells = |number: usize| -> Vec<String> {
            let row = text.lines().filter(|line| line.contains("market")).nth(number).unwrap();
            row.split_whitespace().map(str::to_owned).collect()
        };
        let times = "190 65.0 \u{b5}s 60.0 \u{b5}s 90.0 \u{b5}s 900 \u{b5}s";
        let of_first = format!("q100 market 1 {times} 200 45.0 \u{b5}s 10.0 NA 4.00");
        assert_eq!(cells(0).join(" "), of_first, "{text}");
        let of_second = format!("q100 market 2 {times} NA NA NA NA NA");
        assert_eq!(cells(1).join(" "), of_second, "{text}");
        let note = "q100: the server's statistics contain no call of market 2";
        assert!(text.contains(note), "{text}");
        step.statements[0].totals = None;
        let text = shown(&step);
        assert!(
            text.contains("q100: the server's statistics contain no call of its statements"),
            "{text}"
        );
    }

    #[test]
    fn a_total_of_several_statements_is_marked_and_they_are_named_once() {
        let mut step = step();
        for (at, other) in [(0, "market 2"), (1, "market 1")] {
            step.statements[at].totals = totals();
            step.statements[at].shared_with = vec![other.to_owned()];
        }
        let text = shown(&step);
        assert_eq!(text.matches("200*").count(), 2, "{text}");
        let note = "* q100: the server counts these statements as one: market 1, market 2";
        assert_eq!(text.matches(note).count(), 1, "{text}");
    }
}
