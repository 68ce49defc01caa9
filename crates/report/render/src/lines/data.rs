//! The lines for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::means::{Means, Row};
use super::report::Report;
use crate::document::{Rows, number};
use crate::figure::ratio_to_zero;
use crate::input::Compared;

/// Figures by column; nothing where one is not known.
type Figures = BTreeMap<&'static str, Option<f64>>;

/// One line for programs.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    step: &'a str,
    /// Position of the step, from 0: names may repeat.
    step_index: u32,
    clients: u32,
    variant: &'a str,
    /// Runs behind it.
    n: usize,
    /// Whether the variant's background writers missed their rate.
    has_missed_rate: bool,
    /// Means.
    values: Figures,
    /// Means divided by the base's; nothing where that is 0.
    relative: Figures,
}

/// Returns a line per step, level of clients and variant.
pub(super) fn as_lines<'m>(
    compared: &Compared<'_>,
    report: &Report,
    means: &'m [Means<'_>],
) -> Vec<Line<'m>> {
    let names = || report.columns.iter().map(|(name, ..)| *name);
    let line = |one: &'m Means<'_>, row: &'m Row<'_>| {
        let base = one.row(&compared.comparison.base);
        let relative = |at| {
            let [value, base] = row.with_base(base, at)?;
            ratio_to_zero(value, base).is_none().then(|| value / base)
        };
        Line {
            step: &one.step.name,
            step_index: one.step.index,
            clients: one.step.clients.level,
            variant: row.variant,
            n: row.runs,
            has_missed_rate: row.has_missed_rate,
            values: names().zip(row.values.iter().copied()).collect(),
            relative: names().zip((0..row.values.len()).map(relative)).collect(),
        }
    };
    means.iter().flat_map(|one| one.rows.iter().map(move |row| line(one, row))).collect()
}

/// Returns the lines for spreadsheets; an unknown value is an empty field.
///
/// What the tables have comes first, then position, missed rate and ratios.
pub(super) fn as_rows(report: &Report, lines: &[Line<'_>]) -> Rows {
    let names = || report.columns.iter().map(|(name, ..)| *name);
    let figures = |of: &Figures| -> Vec<String> {
        names().map(|name| number(of.get(name).copied().flatten())).collect()
    };
    let fields = |line: &Line<'_>| {
        let (clients, n) = (line.clients.to_string(), line.n.to_string());
        let place = [line.step.to_owned(), clients, line.variant.to_owned(), n];
        let more = [line.step_index.to_string(), line.has_missed_rate.to_string()];
        let values = place.into_iter().chain(figures(&line.values));
        values.chain(more).chain(figures(&line.relative)).collect()
    };
    let means = ["step", "clients", "variant", "n"].into_iter().chain(names());
    let all = means.chain(["step_index", "has_missed_rate"]).map(str::to_owned);
    let header = all.chain(names().map(|name| format!("{name}_rel")));
    Rows::new(header, lines.iter().map(fields))
}
