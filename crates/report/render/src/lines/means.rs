//! Means of each column over the runs that count.

use analysis::{CellComparison, StepComparison, step_metrics};
use model::{CpuCount, StepRecord, float};

use super::report::{Measured, Report};
use crate::input::Compared;

/// A step's means: a row per variant, a value per column.
pub(super) struct Means<'a> {
    pub(super) step: &'a StepComparison,
    pub(super) rows: Vec<Row<'a>>,
}

pub(super) struct Row<'a> {
    pub(super) variant: &'a str,
    /// Runs behind it.
    pub(super) runs: usize,
    /// Whether the variant's background writers missed their rate.
    pub(super) has_missed_rate: bool,
    pub(super) values: Vec<Option<f64>>,
}

impl<'a> Means<'a> {
    /// Returns the row of that variant; `None` where it has no run.
    pub(super) fn row(&self, variant: &str) -> Option<&Row<'a>> {
        self.rows.iter().find(|row| row.variant == variant)
    }
}

impl Row<'_> {
    /// Returns the value of a column and the base's; `None` unless both are known.
    pub(super) fn with_base(&self, base: Option<&Self>, column: usize) -> Option<[f64; 2]> {
        Some([self.values[column]?, base?.values[column]?])
    }
}

/// Returns the means of one step.
pub(super) fn means<'a>(
    compared: &Compared<'a>,
    step: &'a StepComparison,
    report: &Report,
    cpus: CpuCount,
) -> Means<'a> {
    let row = |variant: &'a str| {
        let records = compared.records(step, variant);
        let measured = |step: &&'a StepRecord| {
            let metrics = step_metrics(step, &compared.meta.shape);
            Measured { cpus, step, metrics }
        };
        let all: Vec<_> = records.iter().map(measured).collect();
        let values = report.columns.iter().map(|(name, _)| mean(&all, name, report)).collect();
        let mut own = step.cells.iter().filter(|cell| cell.variant == variant);
        let has_missed_rate = own.any(CellComparison::has_missed_rate);
        Row { variant, runs: all.len(), has_missed_rate, values }
    };
    let variants = compared.comparison.variants.iter();
    let rows = variants.map(|one| row(&one.name)).filter(|row| row.runs > 0);
    Means { step, rows: rows.collect() }
}

/// Returns the mean of a column over runs; `None` where a run has no value.
fn mean(all: &[Measured<'_>], column: &str, report: &Report) -> Option<f64> {
    let values = all.iter().map(|one| (report.value)(one, column));
    let sum = values.sum::<Option<f64>>()?;
    (!all.is_empty()).then(|| sum / float(all.len()))
}
