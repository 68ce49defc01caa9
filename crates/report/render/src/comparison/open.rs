//! Open-loop steps: rates served, response and service times.

use analysis::{Percentile, StepComparison, Time, Withheld, response_time, service_time};
use model::validity::LoadStatus;
use model::{Label, Limit, StepRecord};

use super::part::Part;
use super::tables::{find, median_cell, ratio_cell};
use crate::figure::{MISSING, figure};
use crate::input::Compared;
use crate::label::{GOODPUT, OFFERED, THROUGHPUT, step_heading, variant_label};
use crate::sentence::{Claim, list, step_sentence};
use crate::table::{Cell, Table};
use crate::validity::{rate, status_word, time};

/// Metrics with a ratio to the base: name and heading.
const RELATIVE: [(&str, &str); 7] = [
    (GOODPUT, "goodput"),
    ("response_ns_p50", "response\np50"),
    ("response_ns_p99", "\np99"),
    ("response_ns_p999", "\np99.9"),
    ("service_ns_p50", "service\np50"),
    ("service_ns_p99", "\np99"),
    ("service_ns_p999", "\np99.9"),
];

/// The percentiles of the table of times, with the names of their metrics.
const SHOWN: [(Percentile, &str, &str); 5] = [
    (Percentile::P50, "response_ns_p50", "service_ns_p50"),
    (Percentile::P99, "response_ns_p99", "service_ns_p99"),
    (Percentile::P999, "response_ns_p999", "service_ns_p999"),
    (Percentile::P9999, "response_ns_p9999", "service_ns_p9999"),
    // The longest is shown where the highest percentile could be.
    (Percentile::P9999, "response_ns_max", "service_ns_max"),
];

/// Share of the intervals that are invalid.
const INVALID_SHARE: &str = "invalid_share";

/// Rates and shares of the arrivals: metric and heading.
const RATES: [(&str, &str); 7] = [
    (OFFERED, "offered\nops/s"),
    (THROUGHPUT, "served\nops/s"),
    (GOODPUT, "goodput\nops/s"),
    ("censored_share", "not served\nat the end"),
    (INVALID_SHARE, "invalid\nat most"),
    ("start_lag_ns_p999", "start lag\np99.9"),
    ("start_lag_ns_max", "\nmax"),
];

/// Returns a part for each step at a given rate.
pub(super) fn parts(compared: &Compared<'_>) -> Vec<Part> {
    let given = compared.comparison.steps.iter().filter(|step| step.is_rate_given);
    given.map(|step| part(compared, step)).collect()
}

fn part(compared: &Compared<'_>, step: &StepComparison) -> Part {
    let comparison = compared.comparison;
    let mut tables = vec![rates(compared, step), times(compared, step)];
    if comparison.variants.len() > 1 {
        tables.extend(relative(compared, step));
    }
    let heading = step_heading(comparison, step);
    let load = first(compared, step).map(|record| record.step.load.to_string());
    let limit = limit(compared, step).map(|limit| format!(", limit {limit}"));
    let title = format!("{heading}: {}{}", load.unwrap_or_default(), limit.unwrap_or_default());
    let remarks = vec![
        "Response time runs from when an operation was due, service time from when it was begun; \
         medians over the runs. Throughput is what was offered as long as the engine keeps up, so \
         it has no ratio. Ratios are of geometric means [95 % interval]."
            .to_owned(),
    ];
    let mut sentences: Vec<String> = sentence(compared, step).into_iter().collect();
    if comparison.variants.len() > 1 {
        let mut claims = Claim::of(step);
        if compared.label == Label::Bogus {
            // The missing verdict is reported once.
            claims.truncate(1);
        }
        sentences.extend(claims.iter().filter_map(|claim| step_sentence(compared, step, claim)));
    }
    Part { title, sentences, tables, remarks }
}

/// Returns which variants sustained the rate, and which stayed within the limit.
fn sentence(compared: &Compared<'_>, step: &StepComparison) -> Option<String> {
    let offered = step.cells.iter().find_map(|cell| cell.metric(OFFERED))?.spread.median;
    let statuses = |variant: &str| {
        let records = compared.records(step, variant);
        let known = records.iter().filter_map(|record| record.load_status.as_ref());
        known.map(status_word).collect::<Vec<_>>()
    };
    let names = |is: &dyn Fn(&str) -> bool| -> Vec<&str> {
        let names = step.cells.iter().map(|cell| cell.variant.as_str());
        names.filter(|name| is(name)).collect()
    };
    let sustained = status_word(&LoadStatus::Sustained);
    let all_sustained = names(&|name| {
        let statuses = statuses(name);
        !statuses.is_empty() && statuses.iter().all(|status| *status == sustained)
    });
    let mut clauses = Vec::new();
    if !all_sustained.is_empty() {
        clauses.push(format!("{} sustained it", list(&all_sustained)));
    }
    let others = |load_status: &str| {
        let with = names(&|name| statuses(name).contains(&load_status));
        (!with.is_empty()).then(|| {
            format!(
                "{} {} {load_status}",
                list(&with),
                if with.len() == 1 { "was" } else { "were" }
            )
        })
    };
    clauses.extend(["OVERLOADED", "CLIENT-BOUND"].into_iter().filter_map(others));
    let heading = step_heading(compared.comparison, step);
    let mut sentence = format!("{heading}: at {} offered, {}.", rate(offered), clauses.join("; "));
    if let Some(limit) = limit(compared, step) {
        let within: Vec<&str> = names(&|name| is_within(step, name, &limit));
        let within = if within.is_empty() { "no variant".to_owned() } else { list(&within) };
        sentence.push_str(&format!(" Within {limit}: {within}."));
    }
    (!clauses.is_empty()).then_some(sentence)
}

/// Returns whether the median run of a variant served the limit's share of the arrivals in time.
fn is_within(step: &StepComparison, variant: &str, limit: &Limit) -> bool {
    let cell = step.cells.iter().find(|cell| cell.variant == variant);
    let median = |name: &str| cell.and_then(|cell| cell.metric(name)).map(|it| it.spread.median);
    let of =
        median(OFFERED).map(|offered| median(THROUGHPUT).map_or(offered, |it| it.max(offered)));
    median(GOODPUT).zip(of).is_some_and(|(good, of)| good >= limit.share * of)
}

fn first<'a>(compared: &Compared<'a>, step: &StepComparison) -> Option<&'a StepRecord> {
    step.cells.iter().find_map(|cell| compared.records(step, &cell.variant).first().copied())
}

/// Returns the limit of a step.
pub(super) fn limit(compared: &Compared<'_>, step: &StepComparison) -> Option<Limit> {
    first(compared, step).and_then(|record| record.step.limit)
}

fn rates(compared: &Compared<'_>, step: &StepComparison) -> Table {
    let headings = RATES.iter().map(|(_, heading)| *heading);
    let mut table = Table::new([""].into_iter().chain(headings).chain(["load"]));
    table.align_left(&[RATES.len() + 1]);
    for cell in &step.cells {
        let mut row = vec![Cell::plain(variant_label(compared.comparison, &cell.variant))];
        row.extend(RATES.iter().map(|(name, _)| match cell.metric(name) {
            // A median would hide the only run that lost seconds.
            Some(measured) if *name == INVALID_SHARE => {
                Cell::plain(figure(find(name).unit, measured.spread.max))
            }
            measured => median_cell(name, measured),
        }));
        row.push(Cell::plain(load_status(&compared.records(step, &cell.variant))));
        table.push(row);
    }
    table
}

/// Returns response and service times side by side.
pub(super) fn times(compared: &Compared<'_>, step: &StepComparison) -> Table {
    let mut table = Table::new([
        "",
        "response\np50",
        "\np99",
        "\np99.9",
        "\np99.99",
        "\nmax",
        "service\np50",
        "\np99",
        "\np99.9",
        "\np99.99",
        "\nmax",
    ]);
    for cell in &step.cells {
        let records = compared.records(step, &cell.variant);
        let shown = |name: &str, of: &dyn Fn(&StepRecord) -> Time| match cell.metric(name) {
            Some(measured) => median_cell(name, Some(measured)),
            None => Cell::plain(placeholder(&records, of)),
        };
        let mut row = vec![Cell::plain(variant_label(compared.comparison, &cell.variant))];
        row.extend(SHOWN.map(|(one, name, _)| shown(name, &|record| response_time(record, one))));
        row.extend(SHOWN.map(|(one, _, name)| shown(name, &|record| service_time(record, one))));
        table.push(row);
    }
    table
}

/// Returns the placeholder of an unknown percentile.
fn placeholder(records: &[&StepRecord], of: &dyn Fn(&StepRecord) -> Time) -> String {
    let first = records.iter().map(|record| of(record)).find(|one| one.known().is_none());
    match first {
        None | Some(Time::Withheld { why: Withheld::Nothing }) => MISSING.to_owned(),
        Some(one) => time(one),
    }
}

/// Returns the load status, with the number of runs where some differ.
fn load_status(records: &[&StepRecord]) -> String {
    let statuses: Vec<&str> =
        records.iter().filter_map(|record| record.load_status.as_ref()).map(status_word).collect();
    let sustained = status_word(&LoadStatus::Sustained);
    let mut others: Vec<&str> = statuses.iter().copied().filter(|it| *it != sustained).collect();
    others.sort_unstable();
    match &others[..] {
        [] if statuses.is_empty() => MISSING.to_owned(),
        [] => sustained.to_owned(),
        [first, ..] => format!("{first} in {} of {}", others.len(), statuses.len()),
    }
}

/// Returns the ratios to the base; `None` when there is none.
fn relative(compared: &Compared<'_>, step: &StepComparison) -> Option<Table> {
    let has_ratio = |name: &str| {
        let mut cells = step.cells.iter().filter_map(|cell| cell.metric(name));
        cells.any(|measured| measured.versus_base.is_some())
    };
    let known: Vec<_> = RELATIVE.into_iter().filter(|(name, _)| has_ratio(name)).collect();
    if known.is_empty() {
        return None;
    }
    let base = &compared.comparison.base;
    let first = format!("relative to\n{base}");
    let mut table =
        Table::new(std::iter::once(first).chain(known.iter().map(|one| one.1.to_owned())));
    for cell in step.cells.iter().filter(|cell| cell.variant != *base) {
        let mut row = vec![Cell::plain(variant_label(compared.comparison, &cell.variant))];
        row.extend(known.iter().map(|(name, _)| ratio_cell(compared, name, cell)));
        table.push(row);
    }
    Some(table)
}
