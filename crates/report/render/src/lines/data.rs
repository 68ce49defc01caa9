//! The lines for programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::means::{Means, Row};
use super::report::Report;
use crate::document::{Rows, merged};
use crate::figure::ratio_to_zero;
use crate::input::Compared;

/// Returns a line per step, level of clients and variant.
///
/// A line has the means, and the means divided by the base's; nothing where that is 0.
pub(super) fn as_lines(
    compared: &Compared<'_>,
    report: &Report,
    means: &[Means<'_>],
) -> Vec<Value> {
    let names = || report.columns.iter().map(|(name, _)| *name);
    let line = |one: &Means<'_>, row: &Row<'_>| {
        let base = one.row(&compared.comparison.base);
        let relative = |at| {
            let [value, base] = row.with_base(base, at)?;
            ratio_to_zero(value, base).is_none().then(|| value / base)
        };
        let relative = names().zip((0..row.values.len()).map(relative));
        json!({
            "step": one.step.name,
            // Names of steps may repeat.
            "step_index": one.step.index,
            "clients": one.step.clients.level,
            "variant": row.variant,
            "n": row.runs,
            "has_missed_rate": row.has_missed_rate,
            "values": names().zip(&row.values).collect::<BTreeMap<_, _>>(),
            "relative": relative.collect::<BTreeMap<_, _>>(),
        })
    };
    let of_step = |one| {
        let one: &Means<'_> = one;
        one.rows.iter().map(move |row| line(one, row))
    };
    means.iter().flat_map(of_step).collect()
}

/// Returns the lines for spreadsheets; an unknown value is an empty field.
///
/// What the tables have comes first, then position, missed rate and ratios.
pub(super) fn as_rows(report: &Report, lines: Vec<Value>) -> Rows {
    let names = || report.columns.iter().map(|(name, _)| *name);
    let means = ["step", "clients", "variant", "n"].into_iter().chain(names());
    let all = means.chain(["step_index", "has_missed_rate"]).map(str::to_owned);
    let header: Vec<String> = all.chain(names().map(|name| format!("{name}_rel"))).collect();
    let flat = |line: Value| {
        let relative = names().map(|name| (format!("{name}_rel"), line["relative"][name].clone()));
        merged([line["values"].clone(), relative.collect(), line])
    };
    Rows::of(header.iter().map(String::as_str), lines.into_iter().map(flat))
}
