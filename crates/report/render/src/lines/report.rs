//! The columns of a report, and what they are computed from.

use model::metric::Readings;
use model::{Better, CpuCount, StepRecord};

use crate::run::Column;

/// The columns of a report.
pub(super) struct Report {
    /// Where its columns are known from, as the page names it.
    pub(super) title: &'static str,
    /// The columns, in order.
    pub(super) columns: &'static [Column],
    /// Which way a column is better.
    pub(super) better: fn(&str) -> Better,
    /// Value of a column in one step of one run; `None` when it is not known.
    pub(super) value: fn(&Measured<'_>, &str) -> Option<f64>,
    /// A value as the report writes it.
    pub(super) text: fn(&str, f64) -> String,
}

/// One step of one run.
pub(super) struct Measured<'a> {
    /// CPUs of the host.
    pub(super) cpus: CpuCount,
    pub(super) step: &'a StepRecord,
    /// Derived metrics.
    pub(super) metrics: Readings,
}
