//! Wording of each metric in sentences.

use analysis::StepComparison;
use model::{Better, metric};

use crate::label::{
    GOODPUT, Loading, SERVER_CPU, SUSTAINABLE, THROUGHPUT, counts_rows, loading, metric_label,
};

/// Response time of an open loop.
const RESPONSE_P999: &str = "response_ns_p999";
/// Time until background work is done.
const SETTLING: &str = "settle_s";

/// A metric with its wording.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) metric: &'static str,
    /// Predicate of a variant: `did`.
    pub(crate) verb: &'static str,
    /// `more`, `longer`.
    pub(crate) more: &'static str,
    /// `fewer`, `shorter`.
    pub(crate) less: &'static str,
    /// `operations per second`.
    pub(crate) noun: String,
}

impl Claim {
    /// Returns the claims on a step: on each metric that is named, or on its own question.
    pub(crate) fn all_of(step: &StepComparison) -> Vec<Self> {
        if step.answers.is_empty() {
            return Self::of(step).into_iter().collect();
        }
        step.answers.iter().map(|metric| Self::on(step, metric)).collect()
    }

    /// Returns the claim on one metric of a step; the table of metrics has which way is better.
    pub(crate) fn on(step: &StepComparison, metric: &'static str) -> Self {
        let (counted, one) =
            if counts_rows(step) { ("rows", "row") } else { ("operations", "operation") };
        let better = metric::find(metric).map_or(Better::Neither, |metric| metric.better);
        let ([verb, more, less], noun) = match (metric, better) {
            (THROUGHPUT, _) => (["did", "more", "fewer"], format!("{counted} per second")),
            (SERVER_CPU, _) => (["used", "more", "less"], format!("server CPU per {one}")),
            (SUSTAINABLE, _) => {
                (["sustained", "more", "fewer"], "operations per second".to_owned())
            }
            (GOODPUT, _) => (["had", "more", "less"], "goodput".to_owned()),
            (RESPONSE_P999, _) => {
                (["had", "longer", "shorter"], "response times at p99.9".to_owned())
            }
            (SETTLING, _) => (["took", "more", "less"], "time to settle".to_owned()),
            (_, Better::Higher) => {
                (["had", "more (better)", "less (worse)"], metric_label(step, metric))
            }
            (_, Better::Lower) => {
                (["had", "more (worse)", "less (better)"], metric_label(step, metric))
            }
            (_, Better::Neither) => (["had", "larger", "smaller"], metric_label(step, metric)),
        };
        Self { metric, verb, more, less, noun }
    }

    /// Returns the claim on a step's first question; `None` where nothing of it was measured.
    pub(crate) fn of(step: &StepComparison) -> Option<Self> {
        if let Some(first) = step.answers.first() {
            return Some(Self::on(step, first));
        }
        let candidates: &[&'static str] = match loading(step) {
            Loading::Closed if step.primary == Some(SERVER_CPU) => &[SERVER_CPU],
            Loading::Closed if counts_rows(step) => &[THROUGHPUT],
            Loading::Closed => &[THROUGHPUT, SETTLING],
            Loading::Searched => &[SUSTAINABLE],
            Loading::Given => &[GOODPUT, RESPONSE_P999],
        };
        let is_known = |metric: &&&str| step.cells.iter().any(|cell| cell.metric(metric).is_some());
        candidates.iter().find(is_known).map(|metric| Self::on(step, metric))
    }
}
