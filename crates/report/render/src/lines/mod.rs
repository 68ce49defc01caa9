//! One line per variant for each step, with the columns of a public report.
//!
//! Relative tables come first: each value divided by the base's. To add a report, add its columns
//! in a file here and to [`Lines`].
//!
//! Source: [Callaghan 2022-11-29], tables relative to the base case; a value is coloured where it is
//! below 0.95 or above 1.05.

mod ibench;
mod iostat;
mod rocksdb;

use std::collections::BTreeMap;

use analysis::{StepComparison, step_metrics};
use model::metric::Readings;
use model::{DataShape, StepRecord};
use serde::Serialize;

use crate::document::{Cell, Document, Part, Table, Tone, csv, json, number};
use crate::figure::{MISSING, float};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::label::{step_heading, variant_label};
use crate::trust::headline;

/// Ratios between these two are not coloured.
const PLAIN: [f64; 2] = [0.95, 1.05];

/// Note on the tables.
const MEANS: &str = "Means of the runs that count; relative: value / base, 0 / 0 is 1.00; coloured below 0.95 \
                     and above 1.05. A ratio here is no verdict: assay compare without --lines \
                     has intervals.";

/// A public report whose columns are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// The one-line summaries of insert benchmark reports.
    Ibench,
    /// The summaries of RocksDB's benchmark.sh.
    Rocksdb,
    /// The averages of iostat, from the block layer's counters.
    Iostat,
}

impl Lines {
    /// Every report.
    pub const ALL: [Self; 3] = [Self::Ibench, Self::Rocksdb, Self::Iostat];

    /// Returns the name as typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ibench => "ibench",
            Self::Rocksdb => "rocksdb",
            Self::Iostat => "iostat",
        }
    }

    const fn report(self) -> &'static Report {
        match self {
            Self::Ibench => &ibench::REPORT,
            Self::Rocksdb => &rocksdb::REPORT,
            Self::Iostat => &iostat::REPORT,
        }
    }
}

/// Which way a column is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    Higher,
    Lower,
    Neither,
}

/// The columns of a report.
struct Report {
    /// Name, meaning and better direction, in order.
    columns: &'static [(&'static str, &'static str, Better)],
    /// Value of a column in one step of one run; `None` when it is not known.
    value: fn(&Measured<'_>, &str) -> Option<f64>,
    /// A value as the report writes it.
    text: fn(&str, f64) -> String,
}

/// One step of one run.
struct Measured<'a> {
    /// CPUs of the host.
    cpus: u32,
    step: &'a StepRecord,
    /// Derived metrics.
    metrics: Readings,
}

/// A step's means: a row per variant, a value per column.
struct Means<'a> {
    step: &'a StepComparison,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    variant: &'a str,
    /// Runs behind it.
    runs: usize,
    values: Vec<Option<f64>>,
}

/// Returns the lines of every step in `format`, of a host with so many CPUs.
///
/// CSV and JSON have the means alone.
pub fn render_lines(
    compared: &Compared<'_>,
    (lines, cpus): (Lines, u32),
    format: Format,
    style: Style,
) -> String {
    let report = lines.report();
    let steps = compared.comparison.steps.iter();
    let means: Vec<Means<'_>> = steps.map(|step| means(compared, step, report, cpus)).collect();
    match format {
        Format::Text | Format::Markdown => document(compared, report, &means).render(format, style),
        Format::Csv => as_csv(report, &as_lines(compared, report, &means)),
        Format::Json => json(&as_lines(compared, report, &means)),
    }
}

fn means<'a>(
    compared: &Compared<'a>,
    step: &'a StepComparison,
    report: &Report,
    cpus: u32,
) -> Means<'a> {
    let row = |variant: &'a str| {
        let records = compared.records(step, variant);
        let all: Vec<_> =
            records.iter().map(|one| measured(one, &compared.meta.shape, cpus)).collect();
        let values = report.columns.iter().map(|(name, ..)| mean(&all, name, report));
        Row { variant, runs: all.len(), values: values.collect() }
    };
    let variants = compared.comparison.variants.iter();
    let rows = variants.map(|one| row(&one.name)).filter(|row| row.runs > 0);
    Means { step, rows: rows.collect() }
}

fn measured<'a>(step: &'a StepRecord, data: &DataShape, cpus: u32) -> Measured<'a> {
    Measured { cpus, step, metrics: step_metrics(step, data) }
}

/// Returns the mean of a column over runs; `None` where a run has no value.
fn mean(all: &[Measured<'_>], column: &str, report: &Report) -> Option<f64> {
    let values = all.iter().map(|one| (report.value)(one, column));
    let sum = values.sum::<Option<f64>>()?;
    (!all.is_empty()).then(|| sum / float(all.len() as u64))
}

/// Returns the relative tables, then those of the values.
fn document(compared: &Compared<'_>, report: &Report, means: &[Means<'_>]) -> Document {
    let comparison = compared.comparison;
    let mut document = Document::default();
    document.add([
        Part::Strong(headline(compared)),
        Part::Heading(1, compared.meta.title.clone()),
        Part::Text(compared.meta.host.clone()),
        Part::Text(compared.meta.durability.clone()),
    ]);
    let shown = || means.iter().filter(|one| !one.rows.is_empty());
    if comparison.variants.len() > 1 {
        document.add([Part::Heading(2, format!("Relative to {}", comparison.base))]);
        document.add(shown().map(|one| Part::Table(relative(one, compared, report))));
    }
    document.add([Part::Heading(2, "Means".to_owned())]);
    document.add(shown().map(|one| Part::Table(absolute(one, compared, report))));
    let meaning = |(name, meaning, _): &(&str, &str, Better)| format!("{name}: {meaning}");
    let meanings: Vec<String> = report.columns.iter().map(meaning).collect();
    document.add([Part::Note(meanings.join("   ")), Part::Note(MEANS.to_owned())]);
    document
}

fn table(means: &Means<'_>, compared: &Compared<'_>) -> Table {
    let names = means.rows.iter().map(|row| variant_label(compared.comparison, row.variant));
    let mut table = Table::named(step_heading(compared.comparison, means.step), names);
    table.figures("n", means.rows.iter().map(|row| row.runs.to_string()));
    table
}

fn absolute(means: &Means<'_>, compared: &Compared<'_>, report: &Report) -> Table {
    let mut table = table(means, compared);
    for (at, (name, ..)) in report.columns.iter().enumerate() {
        let text = |row: &Row<'_>| {
            row.values[at].map_or_else(|| MISSING.to_owned(), |value| (report.text)(name, value))
        };
        table.figures(*name, means.rows.iter().map(text));
    }
    table
}

fn relative(means: &Means<'_>, compared: &Compared<'_>, report: &Report) -> Table {
    let base = means.rows.iter().find(|row| row.variant == compared.comparison.base);
    let mut table = table(means, compared);
    for (at, (name, _, better)) in report.columns.iter().enumerate() {
        let cell = |row: &Row<'_>| {
            let ratio = ratio(row.values[at], base.and_then(|base| base.values[at]));
            ratio.map_or_else(
                || Cell::from(MISSING),
                |ratio| Cell::new(format!("{ratio:.2}"), tone(ratio, *better)),
            )
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

/// One line for programs.
#[derive(Serialize)]
struct Line<'a> {
    step: String,
    clients: u32,
    variant: &'a str,
    /// Runs behind it.
    n: usize,
    /// Mean of each column; nothing where it is not known.
    values: BTreeMap<&'static str, Option<f64>>,
}

fn as_lines<'m>(compared: &Compared<'_>, report: &Report, means: &'m [Means<'_>]) -> Vec<Line<'m>> {
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

/// Returns the lines as comma-separated values; an unknown value is an empty field.
fn as_csv(report: &Report, lines: &[Line<'_>]) -> String {
    let names = || report.columns.iter().map(|(name, ..)| *name);
    let fields = |line: &Line<'_>| {
        let (clients, n) = (line.clients.to_string(), line.n.to_string());
        let place = [line.step.clone(), clients, line.variant.to_owned(), n];
        let value = |name| number(line.values.get(name).copied().flatten());
        place.into_iter().chain(names().map(value)).collect()
    };
    csv(["step", "clients", "variant", "n"].into_iter().chain(names()), lines.iter().map(fields))
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

    #[test]
    fn every_column_has_a_value_or_is_left_open_by_name() {
        for lines in Lines::ALL {
            let report = lines.report();
            let mut names: Vec<_> = report.columns.iter().map(|(name, ..)| *name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), report.columns.len(), "{}", lines.name());
        }
    }
}
