//! One open-loop step: rates, load status, response and service times.

use analysis::{Percentile, Time, Withheld, response_time, service_time};
use model::metric::Readings;
use model::record::Percentiles;
use model::{Nanos, OpKind, RunRecord, StepRecord};

use crate::document::{Part, Table};
use crate::figure::MISSING;
use crate::validity::{censored, invalid, rate, span, status, time};
use model::units::clients;

/// Returns the step's part: rates, load status, invalid intervals, times.
pub(super) fn open_loop(run: &RunRecord, step: &StepRecord, metrics: &Readings) -> Vec<Part> {
    let mut lines = vec![heading(step)];
    lines.extend(step.load_status.as_ref().map(|load_status| status(load_status) + "."));
    lines.push(rates(step, metrics));
    lines.extend(step.invalid_intervals.as_ref().map(invalid));
    let (table, remarks) = times(run, step);
    vec![Part::Sentences(lines), Part::Table(table), Part::Sentences(remarks)]
}

fn heading(step: &StepRecord) -> String {
    let mut about = vec![step.step.load.to_string()];
    if let Some(arrivals) = &step.arrivals {
        about.push(format!("pacing {}", arrivals.pace.pacing));
    }
    about.push(clients(step.step.clients));
    about.extend(step.step.limit.map(|limit| format!("limit {limit}")));
    format!("{} ({})", step.step.name, about.join("; "))
}

fn rates(step: &StepRecord, metrics: &Readings) -> String {
    let known = |name: &str, word: &str| metrics.get(name).map(|value| (word.to_owned(), *value));
    let goodput = step.step.limit.map_or_else(
        || "goodput".to_owned(),
        |limit| format!("goodput (within {})", span(limit.within.0)),
    );
    let rates = [
        known("offered_ops_per_s", "offered"),
        known("throughput_ops_per_s", "throughput"),
        known("goodput_ops_per_s", &goodput),
    ];
    let rates = rates.into_iter().flatten().map(|(word, value)| format!("{word} {}", rate(value)));
    let mut parts: Vec<String> = rates.collect();
    if let Some(arrivals) = &step.arrivals {
        parts.push(format!("censored {}", censored(arrivals.censored, arrivals.offered)));
        if arrivals.backlog_ns > Nanos(0) {
            parts.push(format!("oldest waiting at the end {}", span(arrivals.backlog_ns.0)));
        }
    }
    parts.join(" \u{b7} ")
}

/// Returns the times as a table, and its remarks.
fn times(run: &RunRecord, step: &StepRecord) -> (Table, Vec<String>) {
    let names = Percentile::ALL.map(Percentile::name);
    let mut table = Table::new([""].into_iter().chain(names).chain(["max"]));
    let mut shown: Vec<Time> = Vec::new();
    let mut push = |name: String, times: Vec<Time>| {
        table.push([name].into_iter().chain(times.iter().map(|one| time(*one))));
        shown.extend(times);
    };
    for (suffix, part) in by_kind(step) {
        let longest = |which: fn(&model::record::OpSummary) -> &Percentiles| {
            part.clients.values().map(|summary| which(summary).max_ns).max()
        };
        let response = Percentile::ALL.map(|one| response_time(&part, one));
        push(format!("response{suffix}"), and_longest(&response, longest(|it| &it.response)));
        let service = Percentile::ALL.map(|one| service_time(&part, one));
        push(format!("service{suffix}"), and_longest(&service, longest(|it| &it.service)));
    }
    for (name, lag) in lags(run, step) {
        let known = Percentile::ALL.map(|one| {
            let (needed, counted) = (one.operations_needed(), lag.count);
            one.shown(lag).map_or(Time::TooFew { needed, counted }, |ns| Time::Known { ns })
        });
        push(name, and_longest(&known, (lag.count > 0).then_some(lag.max_ns)));
    }
    let is_invalid =
        step.invalid_intervals.as_ref().is_some_and(|it| it.intervals == it.of_intervals);
    (table, remarks(&shown, is_invalid))
}

/// Returns the step's clients by kind of operation; with one kind only, without a name.
fn by_kind(step: &StepRecord) -> Vec<(String, StepRecord)> {
    let kinds: Vec<OpKind> = step.clients.keys().copied().collect();
    let part = |kind: &OpKind| {
        let mut part = step.clone();
        part.clients.retain(|one, _| one == kind);
        if let Some(invalid_intervals) = &mut part.invalid_intervals {
            invalid_intervals.valid.retain(|one, _| one == kind);
            part.clients.clone_from(&invalid_intervals.valid);
        }
        let suffix = if kinds.len() > 1 { format!(" {kind}") } else { String::new() };
        (suffix, part)
    };
    kinds.iter().map(part).collect()
}

/// Returns the percentiles and the longest time, with the same restriction.
fn and_longest(percentiles: &[Time; 5], longest: Option<u64>) -> Vec<Time> {
    let last = match (percentiles[4], longest) {
        (withheld @ Time::Withheld { .. }, _) => withheld,
        (Time::AtLeast { .. }, Some(ns)) => Time::AtLeast { ns: Nanos(ns) },
        (Time::Known { .. } | Time::TooFew { .. }, Some(ns)) => Time::Known { ns: Nanos(ns) },
        (_, None) => Time::Withheld { why: Withheld::Nothing },
    };
    percentiles.iter().copied().chain([last]).collect()
}

/// Returns the start lag of the step, and of the client alone.
fn lags<'a>(run: &'a RunRecord, step: &'a StepRecord) -> Vec<(String, &'a Percentiles)> {
    let of_step = step.arrivals.as_ref().map(|it| ("start lag".to_owned(), &it.start_lag));
    let alone = run.calibration.as_ref().and_then(|it| {
        let at = it.start_lag_ops_per_s.map(|at| format!(" at {}", rate(at)));
        let name = format!("start lag on null{}", at.unwrap_or_default());
        it.start_lag.as_ref().map(|lag| (name, lag))
    });
    of_step.into_iter().chain(alone).collect()
}

/// Returns the meaning of the words and signs present in the table.
fn remarks(shown: &[Time], is_invalid: bool) -> Vec<String> {
    let withheld = shown.iter().find_map(|one| match one {
        Time::Withheld { .. } if is_invalid => Some("withheld: no interval counts".to_owned()),
        Time::Withheld { why } => Some(format!("withheld: {}", why.phrase())),
        Time::Known { .. } | Time::AtLeast { .. } | Time::TooFew { .. } => None,
    });
    let at_least = shown.iter().any(|one| matches!(one, Time::AtLeast { .. })).then(|| {
        "\u{2265} lower bound: more arrivals were unserved at the end than lie beyond this \
         percentile"
            .to_owned()
    });
    let too_few = shown.iter().any(|one| matches!(one, Time::TooFew { .. }));
    let too_few = too_few.then(|| {
        format!(
            "{MISSING} too few operations: fewer than ten would lie beyond this \
                          percentile"
        )
    });
    [withheld, at_least, too_few].into_iter().flatten().collect()
}
