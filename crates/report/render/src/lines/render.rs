//! The lines in every format, and on the page.

use model::CpuCount;
use serde::Serialize;

use super::choice::Lines;
use super::data::{as_lines, as_rows};
use super::means::{Means, means};
use super::report::Report;
use super::tables::{absolute, relative, shown_columns};
use crate::comparison::head;
use crate::document::{Document, Part, Rows};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::report;

/// Note on the tables.
const MEANS: &str = "Means of the valid runs; relative: value / base, without a ratio if the base \
                     is 0; coloured below 0.95 and above 1.05; in brackets if background writers \
                     missed their rate. A ratio here is not a verdict: assay compare without \
                     --lines has intervals.";

/// The lines of every step.
///
/// CSV, TSV and JSON have means and ratios of a variant in one line.
pub struct LinesOf<'a> {
    /// The comparison.
    pub compared: &'a Compared<'a>,
    /// The report whose columns they have.
    pub lines: Lines,
    /// CPUs of the host.
    pub cpus: CpuCount,
}

impl LinesOf<'_> {
    fn means(&self) -> Vec<Means<'_>> {
        of_steps(self.compared, self.lines.report(), self.cpus)
    }
}

impl report::Report for LinesOf<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut document = head(self.compared);
        document.append(tables(self.compared, self.lines.report(), &self.means()));
        document
    }

    fn rows(&self) -> Option<Rows> {
        let (report, means) = (self.lines.report(), self.means());
        Some(as_rows(report, as_lines(self.compared, report, &means)))
    }

    fn data(&self) -> impl Serialize {
        as_lines(self.compared, self.lines.report(), &self.means())
    }
}

/// Returns the lines folded for a page; `None` where no column is known.
pub(crate) fn folded_lines(compared: &Compared<'_>, lines: Lines, cpus: CpuCount) -> Option<Part> {
    let report = lines.report();
    let means = of_steps(compared, report, cpus);
    let mut values = means.iter().flat_map(|one| &one.rows).flat_map(|row| &row.values);
    values.any(Option::is_some).then(|| {
        let summary = format!("A line per variant and step, in the columns of {}", report.title);
        Part::Folded(summary, tables(compared, report, &means).into_parts().collect())
    })
}

fn of_steps<'a>(compared: &Compared<'a>, report: &Report, cpus: CpuCount) -> Vec<Means<'a>> {
    let steps = compared.comparison.steps.iter();
    steps.map(|step| means(compared, step, report, cpus)).collect()
}

/// Returns the relative tables, then those of the values, with what the columns mean.
fn tables(compared: &Compared<'_>, report: &'static Report, means: &[Means<'_>]) -> Document {
    let comparison = compared.comparison;
    let mut document = Document::default();
    let shown = || means.iter().filter(|one| !one.rows.is_empty());
    if comparison.variants.len() > 1 {
        document.add([Part::title(format!("Relative to {}", comparison.base))]);
        document.add(shown().map(|one| Part::Table(relative(one, compared, report))));
    }
    document.add([Part::title("Means")]);
    document.add(shown().map(|one| Part::Table(absolute(one, compared, report))));
    let shown = shown_columns(means, report);
    let meanings = shown.map(|(_, (name, meaning))| format!("{name}: {meaning}"));
    let meanings: Vec<String> = meanings.collect();
    document.add([Part::Note(meanings.join("   ")), Part::Note(MEANS.to_owned())]);
    document
}
