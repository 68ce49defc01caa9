//! Parts of a step that are reported apart: operations, procedures, statements, events.
//!
//! To add a figure of a part, set its metric here; to add a kind of part, add it to [`PartKind`].

use std::collections::{BTreeMap, BTreeSet};

use model::record::{OpSummary, ProcedureRecord};
use model::validity::LoadStatus;
use model::waits::class;
use model::{Readings, SessionWaits, StatementRecord, StepRecord, float, metric};
use serde::Serialize;

use crate::metrics::{Percentile, is_of_server, ratio};

/// Kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A kind of operation of the clients or of the background writers.
    Operation,
    /// A procedure of the application.
    Procedure,
    /// A statement of a procedure, as its server counts it.
    Statement,
    /// What sessions of the clients or of the background writers were in.
    Event,
}

/// Kind and name of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartName {
    /// Its kind.
    pub kind: PartKind,
    /// Its name: `new_order`, `payment 3`, `writers insert`.
    pub name: String,
}

/// One part of one run's step.
pub(crate) struct StepPart<'a> {
    pub(crate) name: PartName,
    pub(crate) metrics: Readings,
    /// Access paths of a statement at the step's end.
    pub(crate) plan: Option<&'a str>,
}

impl StepPart<'_> {
    fn new(kind: PartKind, name: String, metrics: Readings) -> Self {
        Self { name: PartName { kind, name }, metrics, plan: None }
    }
}

/// Returns the parts of a step of a server, in the record's order.
///
/// `events` are those of all runs of the variant: one that a run did not find had no session.
pub(crate) fn step_parts<'a>(step: &'a StepRecord, events: &BTreeSet<String>) -> Vec<StepPart<'a>> {
    if !is_of_server(step) {
        return Vec::new();
    }
    let mut parts = operations(step);
    parts.extend(step.procedures.iter().map(|one| procedure(step, one)));
    parts.extend(step.statements.iter().map(statement));
    let found = event_counts(step);
    parts.extend(events.iter().filter(|_| !found.is_empty()).map(|event| {
        let group = event.split(' ').next().unwrap_or_default();
        let sessions = session_groups(step).find(|(by, _)| *by == group).map(|(_, of)| of.sessions);
        let count = found.get(event).copied().unwrap_or_default();
        let share = ratio(Some(float(count)), sessions.map(float));
        let mut metrics = Readings::new();
        metrics.set(metric::SESSION_SHARE, share);
        StepPart::new(PartKind::Event, event.clone(), metrics)
    }));
    parts
}

/// Returns the names of the events that a step's samples found.
pub(crate) fn event_names(step: &StepRecord) -> impl Iterator<Item = String> {
    event_counts(step).into_keys()
}

/// Returns how often sessions were found in each class of events, by whose sessions they are.
fn event_counts(step: &StepRecord) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (by, sessions) in session_groups(step) {
        for (event, count) in &sessions.events {
            *counts.entry(format!("{by} {}", class(event))).or_default() += count;
        }
    }
    counts
}

fn session_groups(step: &StepRecord) -> impl Iterator<Item = (&'static str, &SessionWaits)> {
    let profile = step.waits.as_deref().filter(|profile| profile.samples > 0);
    let groups = profile.map(|it| [("clients", &it.clients), ("writers", &it.writers)]);
    groups.into_iter().flatten()
}

/// Returns the kinds of operation where there are several, and transactions held open.
fn operations(step: &StepRecord) -> Vec<StepPart<'static>> {
    let groups = [("clients", &step.clients), ("writers", &step.writers)];
    let has_several = step.clients.len() > 1 || !step.writers.is_empty();
    let all = groups.into_iter().filter(|_| has_several);
    let all = all.flat_map(|(by, of)| of.iter().map(move |(kind, one)| (by, kind, one)));
    let mut parts: Vec<StepPart<'static>> = all
        .map(|(by, kind, one)| {
            StepPart::new(PartKind::Operation, format!("{by} {kind}"), operation(step, one))
        })
        .collect();
    parts.extend(step.holds.map(|holds| {
        let mut metrics = Readings::new();
        metrics.set(metric::DONE_OPS, float(holds.held));
        metrics.set(metric::FAILED_OPS, float(holds.failed));
        metrics.set(metric::SERVICE_NS_MAX, float(holds.longest_ns.0));
        StepPart::new(PartKind::Operation, "held transactions".to_owned(), metrics)
    }));
    parts
}

/// Returns counts and times of a kind; of an overloaded step no response times.
fn operation(step: &StepRecord, summary: &OpSummary) -> Readings {
    let mut metrics = Readings::new();
    metrics.set(metric::DONE_OPS, float(summary.counts.done));
    metrics.set(metric::FAILED_OPS, float(summary.counts.failed));
    let [rows, done] = [summary.counts.rows, summary.counts.done].map(float);
    metrics.set(metric::ROWS_PER_OP, ratio(Some(rows), Some(done)));
    let status = step.load_status.as_ref();
    let is_steady =
        !matches!(status, Some(LoadStatus::Overloaded { .. } | LoadStatus::ClientBound { .. }));
    let times = [
        (metric::RESPONSE_NS_P50, Percentile::P50),
        (metric::RESPONSE_NS_P99, Percentile::P99),
        (metric::RESPONSE_NS_P999, Percentile::P999),
    ];
    for (metric, percentile) in times.into_iter().filter(|_| is_steady) {
        metrics.set(metric, percentile.shown(&summary.response).map(|time| float(time.0)));
    }
    let longest = (is_steady && summary.response.count > 0).then_some(summary.response.max_ns);
    metrics.set(metric::RESPONSE_NS_MAX, longest.map(float));
    let service = Percentile::P99.shown(&summary.service);
    metrics.set(metric::SERVICE_NS_P99, service.map(|time| float(time.0)));
    metrics
}

/// Returns the calls of a procedure per minute that were done and not rolled back.
///
/// Records count calls over the whole span, also where a warm-up is trimmed.
pub fn committed_per_min(step: &StepRecord, procedure: &ProcedureRecord) -> Option<f64> {
    let span_ns = step.duration_ns.after(step.warmup_trim_ns.unwrap_or_default());
    ratio(Some(float(procedure.committed())), Some(span_ns.as_secs_f64() / 60.0))
}

fn procedure(step: &StepRecord, one: &ProcedureRecord) -> StepPart<'static> {
    let mut metrics = Readings::new();
    metrics.set(metric::COMMITTED_PER_MIN, committed_per_min(step, one));
    for (metric, count) in [
        (metric::DONE_OPS, one.done),
        (metric::ROLLED_BACK_OPS, one.rolled_back),
        (metric::FAILED_OPS, one.failed),
        (metric::REPEATED_ATTEMPTS, one.retried.iter().map(|(_, count)| count).sum()),
        (metric::REPEATED_NS, one.retry_ns.0),
    ] {
        metrics.set(metric, float(count));
    }
    for (metric, percentile) in [
        (metric::SERVICE_NS_P50, Percentile::P50),
        (metric::SERVICE_NS_P90, Percentile::P90),
        (metric::SERVICE_NS_P99, Percentile::P99),
    ] {
        metrics.set(metric, percentile.shown(&one.service).map(|time| float(time.0)));
    }
    metrics.set(metric::WITHIN_LIMIT_SHARE, one.share_within());
    StepPart::new(PartKind::Procedure, one.name.clone(), metrics)
}

fn statement(one: &StatementRecord) -> StepPart<'_> {
    let mut metrics = Readings::new();
    if let Some(totals) = one.totals {
        let calls = Some(float(totals.calls));
        metrics.set(metric::STATEMENT_CALLS, calls);
        metrics.set(metric::SERVER_US_PER_CALL, ratio(Some(totals.server_us), calls));
        for (metric, count) in [
            (metric::ROWS_PER_CALL, Some(totals.rows)),
            (metric::EXAMINED_ROWS_PER_CALL, totals.examined),
            (metric::PAGES_PER_CALL, totals.pages),
        ] {
            metrics.set(metric, ratio(count.map(float), calls));
        }
    }
    let name = format!("{} {}", one.procedure, one.number);
    StepPart { plan: one.last_plan(), ..StepPart::new(PartKind::Statement, name, metrics) }
}
