//! Means of each column over the runs that count.

use analysis::{StepComparison, step_metrics};
use model::{DataShape, StepRecord};

use super::report::{Measured, Report};
use crate::figure::float;
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
    pub(super) values: Vec<Option<f64>>,
}

/// Returns the means of one step.
pub(super) fn means<'a>(
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
