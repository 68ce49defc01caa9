//! The tables of one step: values, and values relative to the base's.

use super::means::{Means, Row};
use super::report::{Better, Report};
use crate::comparison::is_missed;
use crate::document::{Cell, Table, Tone};
use crate::figure::MISSING;
use crate::input::Compared;
use crate::label::{step_heading, variant_label};

/// Ratios between these two are not coloured.
const PLAIN: [f64; 2] = [0.95, 1.05];

fn table(means: &Means<'_>, compared: &Compared<'_>) -> Table {
    let names = means.rows.iter().map(|row| variant_label(compared.comparison, row.variant));
    let mut table = Table::named(step_heading(compared.comparison, means.step), names);
    table.figures("n", means.rows.iter().map(|row| row.runs.to_string()));
    table
}

/// Returns the means as the report writes them.
pub(super) fn absolute(means: &Means<'_>, compared: &Compared<'_>, report: &Report) -> Table {
    let mut table = table(means, compared);
    for (at, (name, ..)) in report.columns.iter().enumerate() {
        let text = |row: &Row<'_>| {
            row.values[at].map_or_else(|| MISSING.to_owned(), |value| (report.text)(name, value))
        };
        table.figures(*name, means.rows.iter().map(text));
    }
    table
}

/// Returns each mean divided by the base's; in brackets where background writers missed their rate.
pub(super) fn relative(means: &Means<'_>, compared: &Compared<'_>, report: &Report) -> Table {
    let (step, base_name) = (means.step, compared.comparison.base.as_str());
    let base = means.rows.iter().find(|row| row.variant == base_name);
    let has_missed = |row: &Row<'_>| {
        let mut own = step.cells.iter().filter(|cell| cell.variant == row.variant);
        own.any(|cell| is_missed(step, base_name, cell))
    };
    let mut table = table(means, compared);
    for (at, (name, _, better)) in report.columns.iter().enumerate() {
        let cell = |row: &Row<'_>| {
            let ratio = ratio(row.values[at], base.and_then(|base| base.values[at]));
            let Some(ratio) = ratio else { return Cell::from(MISSING) };
            let cell = Cell::new(format!("{ratio:.2}"), tone(ratio, *better));
            if has_missed(row) { cell.set_aside() } else { cell }
        };
        table.figures(*name, means.rows.iter().map(cell));
    }
    table
}

/// Returns value / base; 1 where both are 0, as in the reports.
///
/// Source: mytools/bench/ibench, `sum_met.awk`.
fn ratio(value: Option<f64>, base: Option<f64>) -> Option<f64> {
    match (value?, base?) {
        (0.0, 0.0) => Some(1.0),
        (value, base) => Some(value / base),
    }
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
    fn ratios_are_those_of_the_reports() {
        assert_eq!(ratio(Some(0.0), Some(0.0)), Some(1.0));
        assert_eq!(ratio(Some(2.0), Some(0.0)), Some(f64::INFINITY));
        assert_eq!(ratio(None, Some(1.0)), None);
        assert_eq!(ratio(Some(3.0), Some(2.0)), Some(1.5));
    }

    #[test]
    fn only_ratios_beyond_five_per_cent_are_coloured() {
        for plain in [0.95, 1.0, 1.05] {
            assert_eq!(tone(plain, Better::Higher), Tone::Plain);
        }
        assert_eq!(tone(1.06, Better::Higher), Tone::Better);
        assert_eq!(tone(1.06, Better::Lower), Tone::Worse);
        assert_eq!(tone(0.94, Better::Lower), Tone::Better);
        assert_eq!(tone(0.94, Better::Neither), Tone::Plain);
    }
}
