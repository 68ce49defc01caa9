//! The lines for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::means::{Means, Row};
use super::report::Report;
use crate::document::{csv, number};
use crate::format::Format;
use crate::input::Compared;
use crate::label::step_heading;

/// One line for programs.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    step: String,
    clients: u32,
    variant: &'a str,
    /// Runs behind it.
    n: usize,
    /// Mean of each column; nothing where it is not known.
    values: BTreeMap<&'static str, Option<f64>>,
}

/// Returns a line per step, level of clients and variant.
pub(super) fn as_lines<'m>(
    compared: &Compared<'_>,
    report: &Report,
    means: &'m [Means<'_>],
) -> Vec<Line<'m>> {
    let names = || report.columns.iter().map(|(name, ..)| *name);
    let line = |one: &Means<'_>, row: &'m Row<'_>| Line {
        step: step_heading(compared.comparison, one.step),
        clients: one.step.clients,
        variant: row.variant,
        n: row.runs,
        values: names().zip(row.values.iter().copied()).collect(),
    };
    means.iter().flat_map(|one| one.rows.iter().map(move |row| line(one, row))).collect()
}

/// Returns the lines separated as in `format`; an unknown value is an empty field.
pub(super) fn as_csv(report: &Report, lines: &[Line<'_>], format: Format) -> String {
    let names = || report.columns.iter().map(|(name, ..)| *name);
    let fields = |line: &Line<'_>| {
        let (clients, n) = (line.clients.to_string(), line.n.to_string());
        let place = [line.step.clone(), clients, line.variant.to_owned(), n];
        let value = |name| number(line.values.get(name).copied().flatten());
        place.into_iter().chain(names().map(value)).collect()
    };
    let header = ["step", "clients", "variant", "n"].into_iter().chain(names());
    csv(format, header, lines.iter().map(fields))
}
