//! The tables of one step: values, and values relative to the base's.

use std::slice;

use model::Better;

use super::means::{Means, Row};
use super::report::Report;
use crate::comparison::is_missed;
use crate::document::{Cell, Table, Tone};
use crate::figure::{MISSING, ratio_to_zero};
use crate::input::Compared;
use crate::label::{step_heading, variant_label};
use crate::run::{Column, is_of_device};

/// Ratios between these two are not coloured.
const PLAIN: [f64; 2] = [0.95, 1.05];

fn table(means: &Means<'_>, compared: &Compared<'_>) -> Table {
    let names = means.rows.iter().map(|row| variant_label(compared.comparison, row.variant));
    let mut table = Table::named(step_heading(compared.comparison, means.step), names);
    table.figures("n", means.rows.iter().map(|row| row.runs.to_string()));
    table
}

/// Iterates over the columns but the device's, which are shown where a server's are not known.
pub(super) fn shown_columns<'m>(
    means: &'m [Means<'_>],
    report: &'static Report,
) -> impl Iterator<Item = (usize, &'static Column)> + 'm {
    let is_known = |at: usize| {
        let mut rows = means.iter().flat_map(|one| &one.rows);
        rows.any(|row| row.values[at].is_some())
    };
    let all = report.columns.iter().enumerate();
    all.filter(move |(at, (name, _))| !is_of_device(name) || is_known(*at))
}

/// Returns the means as the report writes them; in brackets where background writers missed their
/// rate.
pub(super) fn absolute(
    means: &Means<'_>,
    compared: &Compared<'_>,
    report: &'static Report,
) -> Table {
    let mut table = table(means, compared);
    for (at, (name, _)) in shown_columns(slice::from_ref(means), report) {
        let cell = |row: &Row<'_>| {
            let Some(value) = row.values[at] else { return Cell::from(MISSING) };
            let cell = Cell::from((report.text)(name, value));
            if row.has_missed_rate { cell.set_aside() } else { cell }
        };
        table.figures(*name, means.rows.iter().map(cell));
    }
    table
}

/// Returns each mean divided by the base's; in brackets where background writers missed their rate.
pub(super) fn relative(
    means: &Means<'_>,
    compared: &Compared<'_>,
    report: &'static Report,
) -> Table {
    let (step, base_name) = (means.step, compared.comparison.base.as_str());
    let base = means.row(base_name);
    let has_missed = |row: &Row<'_>| {
        let mut own = step.cells.iter().filter(|cell| cell.variant == row.variant);
        own.any(|cell| is_missed(step, base_name, cell))
    };
    let mut table = table(means, compared);
    for (at, (name, _)) in shown_columns(slice::from_ref(means), report) {
        let cell = |row: &Row<'_>| {
            let Some([value, base]) = row.with_base(base, at) else { return Cell::from(MISSING) };
            let cell = match ratio_to_zero(value, base) {
                Some(text) => Cell::from(text),
                None => {
                    let ratio = shown(value / base);
                    Cell::new(format!("{ratio:.2}"), tone(ratio, (report.better)(name)))
                }
            };
            if has_missed(row) { cell.set_aside() } else { cell }
        };
        table.figures(*name, means.rows.iter().map(cell));
    }
    table
}

/// Returns a ratio with the two decimals that are printed, which its colour follows too.
fn shown(ratio: f64) -> f64 {
    (100.0 * ratio).round() / 100.0
}

fn tone(ratio: f64, better: Better) -> Tone {
    let is_higher = match ratio {
        ratio if ratio < PLAIN[0] => false,
        ratio if ratio > PLAIN[1] => true,
        _ => return Tone::Plain,
    };
    match better {
        Better::Neither => Tone::Plain,
        Better::Higher if is_higher => Tone::Better,
        Better::Lower if !is_higher => Tone::Better,
        Better::Higher | Better::Lower => Tone::Worse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ratios_beyond_five_per_cent_are_coloured() {
        for plain in [0.946, 0.95, 1.0, 1.05, 1.054] {
            assert_eq!(tone(shown(plain), Better::Higher), Tone::Plain, "{plain}");
        }
        assert_eq!(tone(shown(0.944), Better::Higher), Tone::Worse);
        assert_eq!(tone(1.06, Better::Higher), Tone::Better);
        assert_eq!(tone(1.06, Better::Lower), Tone::Worse);
        assert_eq!(tone(0.94, Better::Lower), Tone::Better);
        assert_eq!(tone(0.94, Better::Neither), Tone::Plain);
    }
}
