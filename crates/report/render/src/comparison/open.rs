//! Steps at a given rate: what was served of it, and how long that took.

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
use crate::validity::{kept_word, rate, time};

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
    // The longest is told where the highest percentile could be.
    (Percentile::P9999, "response_ns_max", "service_ns_max"),
];

/// Share of the seconds that do not count.
const VOIDED: &str = "voided_share";

/// What came of the arrivals: metric and heading.
const RATES: [(&str, &str); 7] = [
    (OFFERED, "offered\nops/s"),
    (THROUGHPUT, "served\nops/s"),
    (GOODPUT, "goodput\nops/s"),
    ("censored_share", "not served\nat the end"),
    (VOIDED, "void\nat most"),
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
            // That there is no verdict is said once.
            claims.truncate(1);
        }
        sentences.extend(claims.iter().filter_map(|claim| step_sentence(compared, step, claim)));
    }
    Part { title, sentences, tables, remarks }
}

/// Returns who kept up, and who kept the limit, in a sentence or two.
fn sentence(compared: &Compared<'_>, step: &StepComparison) -> Option<String> {
    let offered = step.cells.iter().find_map(|cell| cell.metric(OFFERED))?.spread.median;
    let words = |variant: &str| {
        let records = compared.records(step, variant);
        let keepings = records.iter().filter_map(|record| record.load_status.as_ref());
        keepings.map(kept_word).collect::<Vec<_>>()
    };
    let names = |is: &dyn Fn(&str) -> bool| -> Vec<&str> {
        let names = step.cells.iter().map(|cell| cell.variant.as_str());
        names.filter(|name| is(name)).collect()
    };
    let kept = kept_word(&LoadStatus::Sustained);
    let all_kept = names(&|name| {
        let words = words(name);
        !words.is_empty() && words.iter().all(|word| *word == kept)
    });
    let mut told = Vec::new();
    if !all_kept.is_empty() {
        told.push(format!("{} kept up", list(&all_kept)));
    }
    let evidence = |load_status: &str| {
        let with = names(&|name| words(name).contains(&load_status));
        (!with.is_empty()).then(|| {
            format!(
                "{} {} {load_status}",
                list(&with),
                if with.len() == 1 { "was" } else { "were" }
            )
        })
    };
    told.extend(["OVERLOADED", "CLIENT-BOUND"].into_iter().filter_map(evidence));
    let heading = step_heading(compared.comparison, step);
    let mut sentence = format!("{heading}: at {} offered, {}.", rate(offered), told.join("; "));
    if let Some(limit) = limit(compared, step) {
        let keepers: Vec<&str> = names(&|name| has_kept(step, name, &limit));
        let by = if keepers.is_empty() { "no variant".to_owned() } else { list(&keepers) };
        sentence.push_str(&format!(" {limit} was kept by {by}."));
    }
    (!told.is_empty()).then_some(sentence)
}

/// Returns whether the median run of a variant served the limit's share of the arrivals in time.
fn has_kept(step: &StepComparison, variant: &str, limit: &Limit) -> bool {
    let cell = step.cells.iter().find(|cell| cell.variant == variant);
    let median = |name: &str| cell.and_then(|cell| cell.metric(name)).map(|it| it.spread.median);
    let of =
        median(OFFERED).map(|offered| median(THROUGHPUT).map_or(offered, |it| it.max(offered)));
    median(GOODPUT).zip(of).is_some_and(|(good, of)| good >= limit.share * of)
}

fn first<'a>(compared: &Compared<'a>, step: &StepComparison) -> Option<&'a StepRecord> {
    step.cells.iter().find_map(|cell| compared.records(step, &cell.variant).first().copied())
}

fn limit(compared: &Compared<'_>, step: &StepComparison) -> Option<Limit> {
    first(compared, step).and_then(|record| record.step.limit)
}

fn rates(compared: &Compared<'_>, step: &StepComparison) -> Table {
    let headings = RATES.iter().map(|(_, heading)| *heading);
    let mut table = Table::new([""].into_iter().chain(headings).chain(["kept up"]));
    table.align_left(&[RATES.len() + 1]);
    for cell in &step.cells {
        let mut row = vec![Cell::plain(variant_label(compared.comparison, &cell.variant))];
        row.extend(RATES.iter().map(|(name, _)| match cell.metric(name) {
            // A median would hide the only run that lost seconds.
            Some(measured) if *name == VOIDED => {
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
        let told = |name: &str, told: &dyn Fn(&StepRecord) -> Time| match cell.metric(name) {
            Some(measured) => median_cell(name, Some(measured)),
            None => Cell::plain(untold(&records, told)),
        };
        let mut row = vec![Cell::plain(variant_label(compared.comparison, &cell.variant))];
        row.extend(SHOWN.map(|(one, name, _)| told(name, &|record| response_time(record, one))));
        row.extend(SHOWN.map(|(one, _, name)| told(name, &|record| service_time(record, one))));
        table.push(row);
    }
    table
}

/// Returns what stands in place of a percentile that is not known.
fn untold(records: &[&StepRecord], told: &dyn Fn(&StepRecord) -> Time) -> String {
    let first = records.iter().map(|record| told(record)).find(|told| told.known().is_none());
    match first {
        None | Some(Time::Withheld { why: Withheld::Nothing }) => MISSING.to_owned(),
        Some(told) => time(told),
    }
}

/// Returns who kept up in how many runs.
fn load_status(records: &[&StepRecord]) -> String {
    let words: Vec<&str> =
        records.iter().filter_map(|record| record.load_status.as_ref()).map(kept_word).collect();
    let kept = kept_word(&LoadStatus::Sustained);
    let mut others: Vec<&str> = words.iter().copied().filter(|word| *word != kept).collect();
    others.sort_unstable();
    match &others[..] {
        [] if words.is_empty() => MISSING.to_owned(),
        [] => kept.to_owned(),
        [first, ..] => format!("{first} in {} of {}", others.len(), words.len()),
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
