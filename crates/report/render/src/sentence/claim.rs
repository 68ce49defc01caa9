//! Wording of each metric in sentences.

use analysis::StepComparison;

use crate::label::{GOODPUT, Loading, SERVER_CPU, SUSTAINABLE, THROUGHPUT, counts_rows, loading};

/// A metric with its wording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) metric: &'static str,
    /// Predicate of a variant: `did`.
    pub(crate) verb: &'static str,
    /// `more operations per second`.
    pub(crate) more: &'static str,
    /// `fewer operations per second`.
    pub(crate) less: &'static str,
    /// `operations per second`.
    pub(crate) noun: &'static str,
    /// `the most`, of several.
    pub(crate) most: &'static str,
    /// `the fewest`.
    pub(crate) least: &'static str,
    /// Sentence on variants without a figure; `{}` stands for their names.
    pub(crate) missing: &'static str,
}

impl Claim {
    /// Throughput of a closed loop.
    pub(crate) const THROUGHPUT: Self = Self {
        metric: THROUGHPUT,
        verb: "did",
        more: "more operations per second",
        less: "fewer operations per second",
        noun: "operations per second",
        most: "the most",
        least: "the fewest",
        missing: "No run of {} finished it.",
    };

    /// The same where rows are counted.
    pub(crate) const ROWS: Self = Self {
        more: "more rows per second",
        less: "fewer rows per second",
        noun: "rows per second",
        ..Self::THROUGHPUT
    };

    /// CPU of a server that shares one CPU with the client.
    pub(crate) const SERVER_CPU: Self = Self {
        metric: SERVER_CPU,
        verb: "used",
        more: "more server CPU per operation",
        less: "less server CPU per operation",
        noun: "server CPU per operation",
        most: "the most",
        least: "the least",
        missing: "No run of {} finished it.",
    };

    /// The same where rows are counted.
    pub(crate) const SERVER_CPU_OF_ROWS: Self = Self {
        more: "more server CPU per row",
        less: "less server CPU per row",
        noun: "server CPU per row",
        ..Self::SERVER_CPU
    };

    /// The highest rate within a limit.
    pub(crate) const SUSTAINABLE: Self = Self {
        metric: SUSTAINABLE,
        verb: "sustained",
        missing: "No search of {} found a rate.",
        ..Self::THROUGHPUT
    };

    /// Operations within the limit, at a given rate.
    pub(crate) const GOODPUT: Self = Self {
        metric: GOODPUT,
        verb: "had",
        more: "more goodput",
        less: "less goodput",
        noun: "goodput",
        most: "the most",
        least: "the least",
        missing: "Of {} nothing was counted.",
    };

    /// Response times at a given rate.
    pub(crate) const RESPONSE_P99: Self = Self {
        metric: "response_ns_p99",
        verb: "had",
        more: "longer response times at p99",
        less: "shorter response times at p99",
        noun: "response times at p99",
        most: "the longest",
        least: "the shortest",
        missing: "Response times of {} are withheld or too few.",
    };

    /// The same at p99.9.
    pub(crate) const RESPONSE_P999: Self = Self {
        metric: "response_ns_p999",
        more: "longer response times at p99.9",
        less: "shorter response times at p99.9",
        noun: "response times at p99.9",
        ..Self::RESPONSE_P99
    };

    /// Time until background work is done.
    pub(crate) const SETTLING: Self = Self {
        metric: "settle_s",
        verb: "took",
        more: "more time to settle",
        less: "less time to settle",
        noun: "time to settle",
        most: "the most",
        least: "the least",
        missing: "No run of {} finished it.",
    };

    /// Returns the claims about a step, its own question first.
    pub(crate) fn of(step: &StepComparison) -> Vec<Self> {
        let is_known =
            |claim: &&Self| step.cells.iter().any(|cell| cell.metric(claim.metric).is_some());
        let first = |claims: &[Self]| claims.iter().find(is_known).copied();
        let claims = match loading(step) {
            Loading::Closed if step.primary == Some(SERVER_CPU) => {
                let of_rows = counts_rows(step).then_some(Self::SERVER_CPU_OF_ROWS);
                [of_rows.or(Some(Self::SERVER_CPU)), None]
            }
            Loading::Closed if counts_rows(step) => [first(&[Self::ROWS]), None],
            Loading::Closed => [first(&[Self::THROUGHPUT, Self::SETTLING]), None],
            Loading::Searched => [first(&[Self::SUSTAINABLE]), None],
            Loading::Given => {
                [first(&[Self::GOODPUT, Self::RESPONSE_P99]), first(&[Self::RESPONSE_P999])]
            }
        };
        claims.into_iter().flatten().collect()
    }
}
