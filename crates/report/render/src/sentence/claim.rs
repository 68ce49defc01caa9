//! Wording of each metric in sentences.

use analysis::StepComparison;

use crate::label::{GOODPUT, Loading, SERVER_CPU, SUSTAINABLE, THROUGHPUT, counts_rows, loading};

/// A metric with its wording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) metric: &'static str,
    /// Predicate of a variant: `did`.
    pub(crate) verb: &'static str,
    /// `more`, `longer`.
    pub(crate) more: &'static str,
    /// `fewer`, `shorter`.
    pub(crate) less: &'static str,
    /// `operations per second`.
    pub(crate) noun: &'static str,
}

impl Claim {
    /// Throughput of a closed loop.
    pub(crate) const THROUGHPUT: Self =
        Self::of_metric(THROUGHPUT, ["did", "more", "fewer"], "operations per second");
    /// The same where rows are counted.
    pub(crate) const ROWS: Self = Self { noun: "rows per second", ..Self::THROUGHPUT };
    /// CPU of a server that shares one CPU with the client.
    const SERVER_CPU: Self =
        Self::of_metric(SERVER_CPU, ["used", "more", "less"], "server CPU per operation");
    const SERVER_CPU_OF_ROWS: Self = Self { noun: "server CPU per row", ..Self::SERVER_CPU };
    /// The highest rate within a limit.
    pub(crate) const SUSTAINABLE: Self =
        Self { metric: SUSTAINABLE, verb: "sustained", ..Self::THROUGHPUT };
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
        Self { metric, verb, more, less, noun }
    }

    /// Returns the claim on a step's own question; `None` where nothing of it was measured.
    pub(crate) fn of(step: &StepComparison) -> Option<Self> {
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
        candidates.iter().find(|claim| is_known(claim.metric)).copied()
    }
}
