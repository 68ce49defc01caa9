//! Open-loop steps: rates served, response and service times.

use analysis::{
    CellComparison, Percentile, StepComparison, Time, Withheld, response_time, service_time,
};
use model::validity::LoadStatus;
use model::{Limit, StepRecord};

use super::section::Section;
use super::tables::{find, mean_cell, not_base, of_variants, ratio_cell};
use crate::document::Table;
use crate::figure::{MISSING, figure};
use crate::input::Compared;
use crate::label::{GOODPUT, OFFERED, THROUGHPUT, step_heading};
use crate::sentence::{claim_sentences, grouped, list};
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

/// The percentiles of the table of times: how their metrics end, and headings.
const SHOWN: [(Percentile, &str, &str); 5] = [
    (Percentile::P50, "p50", "p50"),
    (Percentile::P99, "p99", "p99"),
    (Percentile::P999, "p999", "p99.9"),
    (Percentile::P9999, "p9999", "p99.99"),
    // The longest is shown where the highest percentile could be.
    (Percentile::P9999, "max", "max"),
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
pub(super) fn parts(compared: &Compared<'_>) -> Vec<Section> {
    let given = compared.comparison.steps.iter().filter(|step| step.is_rate_given);
    given.map(|step| part(compared, step)).collect()
}

fn part(compared: &Compared<'_>, step: &StepComparison) -> Section {
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
        "Response time starts when an operation is due, and service time starts when it begins; \
         ratios with [95 % interval]. Throughput equals the offered rate while the engine keeps \
         up, so it has no ratio."
            .to_owned(),
    ];
    let mut sentences: Vec<String> = sentence(compared, step).into_iter().collect();
    if comparison.variants.len() > 1 {
        sentences.extend(claim_sentences(compared, step));
    }
    Section { title, sentences, tables, remarks, ..Section::default() }
}

/// Returns which variants sustained the rate, and which stayed within the limit.
fn sentence(compared: &Compared<'_>, step: &StepComparison) -> Option<String> {
    let offered = step.cells.iter().find_map(|cell| cell.metric(OFFERED))?.spread.mean;
    let of_cell = |cell: &CellComparison| {
        let records = compared.records(step, &cell.variant);
        (load_status(&records), cell.variant.clone())
    };
    let known = step.cells.iter().map(of_cell).filter(|(status, _)| status != MISSING);
    let statuses = grouped(known);
    let heading = step_heading(compared.comparison, step);
    let mut sentence = format!("{heading}: {} offered: {statuses}.", rate(offered));
    if let Some(limit) = limit(compared, step) {
        let within = step.cells.iter().filter(|cell| is_within(cell, &limit));
        let within: Vec<&str> = within.map(|cell| cell.variant.as_str()).collect();
        let within = if within.is_empty() { "no variant".to_owned() } else { list(&within) };
        sentence.push_str(&format!(" Within {limit}: {within}."));
    }
    (!statuses.is_empty()).then_some(sentence)
}

/// Returns whether the median run of a variant served the limit's share of the arrivals in time.
fn is_within(cell: &CellComparison, limit: &Limit) -> bool {
    let median = |name: &str| cell.metric(name).map(|it| it.spread.median);
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
    let mut table = of_variants(compared.comparison, "");
    for (name, heading) in RATES {
        let cell = |cell: &CellComparison| match cell.metric(name) {
            // A mean would hide the only run that lost seconds.
            Some(measured) if name == INVALID_SHARE => {
                figure(find(name).unit, measured.spread.max).into()
            }
            _ => mean_cell(name, cell),
        };
        table.figures(heading, step.cells.iter().map(cell));
    }
    let status = |cell: &CellComparison| load_status(&compared.records(step, &cell.variant));
    table.labels("load", step.cells.iter().map(status));
    table
}

/// Returns response and service times side by side.
pub(super) fn times(compared: &Compared<'_>, step: &StepComparison) -> Table {
    let mut table = of_variants(compared.comparison, "");
    let mut add = |what: &str, of: fn(&StepRecord, Percentile) -> Time| {
        for (percentile, suffix, heading) in &SHOWN {
            let name = format!("{what}_ns_{suffix}");
            let cell = |cell: &CellComparison| match cell.metric(&name) {
                Some(_) => mean_cell(&name, cell),
                None => {
                    let records = compared.records(step, &cell.variant);
                    placeholder(&records, &|record| of(record, *percentile)).into()
                }
            };
            let first = if *percentile == Percentile::P50 { what } else { "" };
            table.figures(format!("{first}\n{heading}"), step.cells.iter().map(cell));
        }
    };
    add("response", response_time);
    add("service", service_time);
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
    let mut known = RELATIVE.into_iter().filter(|(name, _)| has_ratio(name)).peekable();
    known.peek()?;
    let base = &compared.comparison.base;
    let mut table = Table::named(format!("relative to\n{base}"), not_base(compared.comparison));
    for (name, heading) in known {
        let others = step.cells.iter().filter(|cell| cell.variant != *base);
        table.figures(heading, others.map(|cell| ratio_cell(compared, name, cell, &step.cells)));
    }
    Some(table)
}
