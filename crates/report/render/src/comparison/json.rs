//! The comparison as data: the label first, then every metric, for programs.
//!
//! Verdicts are those of the analysis: one whose effect `is_blocked` must not be drawn.

use analysis::{Comparison, RateCurve, Scaling};
use lint::LintFinding;
use model::{Label, Waiver};
use serde::Serialize;

use super::buckets::{Histogram, histograms};
use crate::input::Compared;
use crate::meta::Meta;
use crate::published::{Publication, publications};
use crate::trust::waived;

#[derive(Serialize)]
struct Data<'a> {
    label: Label,
    waived: Vec<Waiver>,
    experiment: &'a Meta,
    findings: &'a [LintFinding],
    comparison: &'a Comparison,
    published: Vec<Publication<'a>>,
    rate_curves: &'a [RateCurve],
    scalability: &'a [Scaling],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    histograms: Vec<Histogram<'a>>,
}

/// Returns label, findings, the comparison and its curves, as one object.
pub(super) fn data(compared: &Compared<'_>) -> impl Serialize {
    Data {
        label: compared.label,
        waived: waived(compared),
        experiment: compared.meta,
        findings: compared.findings,
        comparison: compared.comparison,
        published: publications(compared),
        rate_curves: &compared.curves,
        scalability: &compared.scalings,
        histograms: histograms(compared),
    }
}
