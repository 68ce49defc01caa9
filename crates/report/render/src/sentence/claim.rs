//! Wording of each metric in sentences.

use std::borrow::Cow;

use analysis::StepComparison;
use model::{Better, metric};

use crate::label::{
    GOODPUT, Loading, SERVER_CPU, SUSTAINABLE, THROUGHPUT, counts_rows, loading, metric_label,
};

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
    pub(crate) noun: Cow<'static, str>,
}

impl Claim {
    /// Throughput of a closed loop.
    pub(crate) const THROUGHPUT: Self =
        Self::of_metric(THROUGHPUT, ["did", "more", "fewer"], "operations per second");
    /// The same where rows are counted.
    pub(crate) const ROWS: Self =
        Self::of_metric(THROUGHPUT, ["did", "more", "fewer"], "rows per second");
    /// CPU of a server that shares one CPU with the client.
    const SERVER_CPU: Self =
        Self::of_metric(SERVER_CPU, ["used", "more", "less"], "server CPU per operation");
    const SERVER_CPU_OF_ROWS: Self =
        Self::of_metric(SERVER_CPU, ["used", "more", "less"], "server CPU per row");
    /// The highest rate within a limit.
    pub(crate) const SUSTAINABLE: Self =
        Self::of_metric(SUSTAINABLE, ["sustained", "more", "fewer"], "operations per second");
    /// Operations within the limit, at a given rate.
    const GOODPUT: Self = Self::of_metric(GOODPUT, ["had", "more", "less"], "goodput");
    /// Response times at a given rate.
    const RESPONSE_P999: Self = Self::of_metric(
        "response_ns_p999",
        ["had", "longer", "shorter"],
        "response times at p99.9",
    );
    /// Time until background work is done.
    const SETTLING: Self = Self::of_metric("settle_s", ["took", "more", "less"], "time to settle");

    const fn of_metric(
        metric: &'static str,
        [verb, more, less]: [&'static str; 3],
        noun: &'static str,
    ) -> Self {
        Self { metric, verb, more, less, noun: Cow::Borrowed(noun) }
    }

    /// Returns the claims on a step: on each metric that is named, or on its own question.
    pub(crate) fn all_of(step: &StepComparison) -> Vec<Self> {
        if step.answers.is_empty() {
            return Self::of(step).into_iter().collect();
        }
        step.answers.iter().map(|metric| Self::on(step, metric)).collect()
    }

    /// Returns the claim on one metric of a step; the table of metrics has which way is better.
    pub(crate) fn on(step: &StepComparison, name: &'static str) -> Self {
        let is_of_rows = counts_rows(step);
        let worded = match name {
            THROUGHPUT => Some(if is_of_rows { Self::ROWS } else { Self::THROUGHPUT }),
            SERVER_CPU if is_of_rows => Some(Self::SERVER_CPU_OF_ROWS),
            _ => [Self::SERVER_CPU, Self::SUSTAINABLE, Self::GOODPUT, Self::SETTLING]
                .into_iter()
                .find(|claim| claim.metric == name),
        };
        worded.unwrap_or_else(|| {
            let wording = match metric::find(name).map_or(Better::Neither, |metric| metric.better) {
                Better::Higher => ["had", "more (better)", "less (worse)"],
                Better::Lower => ["had", "more (worse)", "less (better)"],
                Better::Neither => ["had", "larger", "smaller"],
            };
            Self {
                noun: Cow::Owned(metric_label(step, name)),
                ..Self::of_metric(name, wording, "")
            }
        })
    }

    /// Returns the claim on a step's first question; `None` where nothing of it was measured.
    pub(crate) fn of(step: &StepComparison) -> Option<Self> {
        if let Some(first) = step.answers.first() {
            return Some(Self::on(step, first));
        }
        let is_of_cpu = step.primary == Some(SERVER_CPU);
        let candidates: &[Self] = match (loading(step), is_of_cpu, counts_rows(step)) {
            (Loading::Closed, true, true) => &[Self::SERVER_CPU_OF_ROWS],
            (Loading::Closed, true, false) => &[Self::SERVER_CPU],
            (Loading::Closed, false, true) => &[Self::ROWS],
            (Loading::Closed, false, false) => &[Self::THROUGHPUT, Self::SETTLING],
            (Loading::Searched, ..) => &[Self::SUSTAINABLE],
            (Loading::Given, ..) => &[Self::GOODPUT, Self::RESPONSE_P999],
        };
        let is_known = |metric| step.cells.iter().any(|cell| cell.metric(metric).is_some());
        candidates.iter().find(|claim| is_known(claim.metric)).cloned()
    }
}
