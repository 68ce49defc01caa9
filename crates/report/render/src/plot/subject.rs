//! Common input of all pictures of one report.

use analysis::{Measured, StepComparison};
use stats::Spread;

use super::matrix::Row;
use super::palette::colours;
use crate::input::{Compared, ReportInput};
use crate::label::{measured_steps, step_heading, variant_label};

/// The report's input with its rows and columns laid out.
#[derive(Clone)]
pub(crate) struct Subject<'a> {
    pub(crate) input: ReportInput<'a>,
    pub(crate) compared: &'a Compared<'a>,
    /// One per variant, in the comparison's order.
    pub(crate) rows: Vec<Row>,
    /// The steps in which operations were measured.
    pub(crate) steps: Vec<&'a StepComparison>,
    /// Their headings.
    pub(crate) headings: Vec<String>,
}

impl<'a> Subject<'a> {
    pub(crate) fn of(input: ReportInput<'a>, compared: &'a Compared<'a>) -> Self {
        let comparison = input.comparison;
        let colours = colours(&input.manifest.plan.experiment);
        let row = |variant: &analysis::VariantRuns| Row {
            label: variant_label(comparison, &variant.name),
            is_base: variant.name == comparison.base,
            colour: colours.get(variant.name.as_str()).copied().unwrap_or("#666666"),
        };
        let steps = measured_steps(comparison);
        let headings = steps.iter().map(|step| step_heading(comparison, step)).collect();
        let rows = comparison.variants.iter().map(row).collect();
        Self { input, compared, rows, steps, headings }
    }

    /// Returns the subject with the steps that `is_wanted` selects.
    pub(crate) fn only(&self, is_wanted: impl Fn(&StepComparison) -> bool) -> Self {
        let columns = self.steps.iter().zip(&self.headings);
        let (steps, headings) = columns
            .filter(|(step, _)| is_wanted(step))
            .map(|(step, heading)| (*step, heading.clone()))
            .unzip();
        Self { steps, headings, ..self.clone() }
    }

    /// Returns a metric's spread in one step and row.
    pub(crate) fn spread(&self, column: usize, row: usize, metric: &str) -> Option<Spread> {
        self.measured(column, row, metric).map(|measured| measured.spread)
    }

    fn measured(&self, column: usize, row: usize, metric: &str) -> Option<&'a Measured> {
        self.steps.get(column)?.cells.get(row)?.metric(metric)
    }

    /// Returns whether any variant has the metric in any step.
    pub(crate) fn has_metric(&self, metric: &str) -> bool {
        self.steps.iter().flat_map(|step| &step.cells).any(|cell| cell.metric(metric).is_some())
    }

    /// Returns the row of the base.
    pub(crate) fn base_row(&self) -> Option<usize> {
        self.rows.iter().position(|row| row.is_base)
    }
}
