//! Parts of a step: operations, procedures, statements with their plans, events.

use std::collections::{BTreeMap, BTreeSet};

use analysis::{CellComparison, PartComparison, PartKind, StepComparison};
use model::{ShellCommand, metric};

use super::section::Section;
use super::tables::{cost_cell, ratio_cell, spread_cell};
use crate::document::{Cell, Table};
use crate::input::Compared;
use crate::label::{counts_rows, is_sweep, step_heading, variant_label};

/// Share of the sessions below which an event is only in CSV and JSON.
const SHOWN_FROM: f64 = 0.005;

/// What is shown of a kind of part.
struct Shown {
    kind: PartKind,
    title: &'static str,
    /// The metric that is compared with the base, and its heading.
    compared: (&'static str, &'static str),
    /// The other metrics with their headings; a verdict above or below is marked by its sign.
    others: &'static [(&'static str, &'static str)],
}

/// The transactions of an application.
const PROCEDURES: Shown = Shown {
    kind: PartKind::Procedure,
    title: "By procedure: committed calls (done and not rolled back) per minute; counts are means \
            of the runs; times are service times with all attempts and their pauses",
    compared: ("committed_per_min", "committed\n/min"),
    others: &[
        ("done_ops", "done"),
        ("rolled_back_ops", "rolled\nback"),
        ("failed_ops", "failed"),
        ("repeated_attempts", "attempts\nrepeated"),
        ("repeated_ns", "time\nlost"),
        ("service_ns_p50", "service\np50"),
        ("service_ns_p90", "\np90"),
        ("service_ns_p99", "\np99"),
        ("within_limit_share", "within\nlimit"),
    ],
};

/// What is shown on request, and on a page below the costs.
const DETAILS: [Shown; 3] = [
    Shown {
        kind: PartKind::Operation,
        title: "By kind of operation; writers are the background writers",
        compared: ("response_ns_p99", "response\np99"),
        others: &[
            ("done_ops", "done"),
            ("failed_ops", "failed"),
            ("rows_per_op", "rows\n/op"),
            ("response_ns_p50", "response\np50"),
            ("response_ns_p999", "\np99.9"),
            ("response_ns_max", "\nmax"),
            ("service_ns_p99", "service\np99"),
            ("service_ns_max", "\nmax"),
        ],
    },
    Shown {
        kind: PartKind::Event,
        title: "Events of the sessions, as shares of samples: commits are one class in all \
                servers, which includes their CPU in MySQL and MariaDB without wait events",
        compared: ("session_share", "share of\nsessions"),
        others: &[],
    },
    Shown {
        kind: PartKind::Statement,
        title: "Statements as the server counts them, warm-up included",
        compared: ("server_us_per_call", "server\n/call"),
        others: &[
            ("statement_calls", "calls"),
            ("rows_per_call", "rows\n/call"),
            ("examined_rows_per_call", "examined\n/call"),
            ("pages_per_call", "pages\n/call"),
        ],
    },
];

/// Returns the procedures of every step that is about operations; `None` where no application
/// reports any.
///
/// Those of loads, index builds and the many levels of a sweep are details.
pub(super) fn procedures(compared: &Compared<'_>) -> Option<Section> {
    let mut section = section(compared, &PROCEDURES, &|step| !is_detail(compared, step))?;
    let command = ShellCommand::of("assay compare").operands(&compared.meta.selection);
    let command = command.flag("--costs");
    section
        .remarks
        .push(format!("To show kinds of operation, events, statements and their plans: {command}"));
    Some(section)
}

/// Returns the other procedures, kinds of operation, events, statements and plans.
pub(crate) fn details(compared: &Compared<'_>) -> impl Iterator<Item = Section> {
    let procedures = section(compared, &PROCEDURES, &|step| is_detail(compared, step));
    let others = DETAILS.iter().filter_map(|shown| section(compared, shown, &|_| true));
    procedures.into_iter().chain(others).chain(plans(compared))
}

/// Returns whether the procedures of a step are details.
fn is_detail(compared: &Compared<'_>, step: &StepComparison) -> bool {
    counts_rows(step) || is_sweep(compared.comparison)
}

fn section(
    compared: &Compared<'_>,
    shown: &Shown,
    is_wanted: &dyn Fn(&StepComparison) -> bool,
) -> Option<Section> {
    let steps = compared.comparison.steps.iter().filter(|step| is_wanted(step));
    Section::of(shown.title, steps.map(|step| table(compared, step, shown)))
}

/// Returns a row per part and variant of a step.
fn table(compared: &Compared<'_>, step: &StepComparison, shown: &Shown) -> Table {
    let comparison = compared.comparison;
    let mut parts: Vec<&PartComparison> =
        step.parts.iter().filter(|part| part.name.kind == shown.kind && is_shown(part)).collect();
    if shown.kind == PartKind::Event {
        parts.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    }
    let rows: Vec<(&PartComparison, &CellComparison)> = parts
        .into_iter()
        .flat_map(|part| part.cells.iter().map(move |cell| (part, cell)))
        .filter(|(_, cell)| !cell.metrics.is_empty())
        .collect();
    let label = |(part, cell): &(&PartComparison, &CellComparison)| {
        let name = &part.name.name;
        match comparison.variants.len() {
            1 => name.clone(),
            _ => format!("{name}, {}", variant_label(comparison, &cell.variant)),
        }
    };
    let mut table = Table::named(step_heading(comparison, step), rows.iter().map(label));
    let (lead, heading) = shown.compared;
    table.figures(heading, rows.iter().map(|(_, cell)| spread_cell(lead, cell)));
    if comparison.variants.len() > 1 {
        let ratio = |(part, cell): &(&PartComparison, &CellComparison)| {
            ratio_cell(compared, lead, cell, &part.cells)
        };
        table.figures("ratio\n[95 %]", rows.iter().map(ratio));
    }
    for (name, heading) in shown.others {
        if rows.iter().any(|(_, cell)| cell.metric(name).is_some()) {
            table.figures(*heading, rows.iter().map(|(_, cell)| cost_cell(compared, name, cell)));
        }
    }
    table
}

/// Returns whether a part is more than a rare event.
fn is_shown(part: &PartComparison) -> bool {
    part.name.kind != PartKind::Event || largest(part) >= SHOWN_FROM
}

/// Returns the largest mean share of sessions of an event.
fn largest(part: &PartComparison) -> f64 {
    let shares = part.cells.iter().filter_map(|cell| cell.metric(metric::SESSION_SHARE));
    shares.map(|share| share.spread.mean).fold(0.0, f64::max)
}

/// Returns the access paths of each statement, each with the variants that had it.
fn plans(compared: &Compared<'_>) -> Option<Section> {
    let steps = compared.comparison.steps.iter();
    let title = "Plans of the statements at the end of the step, of all runs";
    Section::of(title, steps.map(|step| plans_of(compared, step)))
}

fn plans_of(compared: &Compared<'_>, step: &StepComparison) -> Table {
    let heading = step_heading(compared.comparison, step);
    let mut table = Table::new([heading.as_str(), "<variants", "<plan"]).broken(2);
    for part in &step.parts {
        let mut by_plan: BTreeMap<&String, BTreeSet<&str>> = BTreeMap::new();
        for (variant, plans) in &part.plans {
            plans.iter().for_each(|plan| {
                by_plan.entry(plan).or_default().insert(variant);
            });
        }
        for (plan, variants) in by_plan {
            let variants: Vec<&str> = variants.into_iter().collect();
            table.push([
                Cell::from(part.name.name.as_str()),
                variants.join(", ").into(),
                plan.as_str().into(),
            ]);
        }
    }
    table
}
