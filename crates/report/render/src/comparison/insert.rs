//! Background insert rates and relative throughput, as insert benchmark reports show them.
//!
//! Source: [Callaghan 2022-11-29]: the table of insert rates with its target row and the 95 % rule;
//! relative tables that flag < 0.95 and > 1.05.

use analysis::{CellComparison, StepComparison};
use model::{Label, Unit};

use super::section::Section;
use super::tables::{median_cell, of_variants};
use crate::document::{Cell, Table, Tone, known};
use crate::figure::{MISSING, digits, figure, percent};
use crate::input::Compared;
use crate::label::{THROUGHPUT, counts_rows, plain_steps, step_heading, variant_label};

/// The rate that background writers reached.
const REACHED: &str = "writer_rows_per_s";
/// The same as a share of the target.
const SHARE: &str = "writer_rate_share";
/// Ratios of medians beyond which a relative table marks a cell.
const MARKED: std::ops::RangeInclusive<f64> = 0.95..=1.05;

/// Legend of figures in brackets.
pub(crate) const BRACKETS: &str = "In brackets: the background writers reached less than 95 % of \
    their target rate; these queries had less load next to them and get no ratio.";

/// Returns the rates that were reached, then throughput as insert benchmark reports have it;
/// nothing for experiments without rows to count.
pub(super) fn parts(compared: &Compared<'_>) -> Vec<Section> {
    [rates(compared), relative(compared)].into_iter().flatten().collect()
}

/// Returns whether a figure of the comparison stands in brackets.
pub(crate) fn has_brackets(compared: &Compared<'_>) -> bool {
    let mut cells = compared.comparison.steps.iter().flat_map(|step| &step.cells);
    cells.any(CellComparison::has_missed_rate)
}

/// Returns target and reached rate of the background writers of each step.
fn rates(compared: &Compared<'_>) -> Option<Section> {
    let comparison = compared.comparison;
    let is_known = |step: &&StepComparison| target(step).is_some();
    let steps: Vec<&StepComparison> = comparison.steps.iter().filter(is_known).collect();
    if steps.is_empty() {
        return None;
    }
    let names = comparison.variants.iter().map(|one| variant_label(comparison, &one.name));
    let mut table = Table::named("", ["target".to_owned()].into_iter().chain(names));
    for step in &steps {
        let target = Cell::from(known(target(step).map(whole)));
        let cells = [target].into_iter().chain(step.cells.iter().map(reached));
        table.figures(step_heading(comparison, step), cells);
    }
    let missed = steps.iter().flat_map(|step| missed(compared, step));
    Some(Section {
        title: "Rows per second of the background writers".to_owned(),
        sentences: missed.collect(),
        tables: vec![table],
        remarks: vec![
            "Medians over the runs, all clients' writers together; deletes are not added to \
             inserts. A rate is met from 95 % of its target on."
                .to_owned(),
        ],
    })
}

/// Returns the target rate of the background writers of a step, rows per second.
fn target(step: &StepComparison) -> Option<f64> {
    let of_cell = |cell: &CellComparison| {
        let median = |name: &str| Some(cell.metric(name)?.spread.median);
        median(SHARE).filter(|share| *share > 0.0).zip(median(REACHED))
    };
    step.cells.iter().find_map(of_cell).map(|(share, reached)| reached / share)
}

fn reached(cell: &CellComparison) -> Cell {
    let Some(measured) = cell.metric(REACHED) else { return MISSING.into() };
    let text = whole(measured.spread.median);
    match cell.has_missed_rate() {
        true => Cell::new(format!("{text} missed"), Tone::Worse),
        false => format!("{text} met   ").into(),
    }
}

/// Returns a rate in whole rows per second, as targets are written.
fn whole(rate: f64) -> String {
    if rate < 10_000.0 { format!("{rate:.0}") } else { figure(Unit::OpsPerSecond, rate) }
}

/// Returns a sentence for each variant whose background writers missed their rate.
fn missed(compared: &Compared<'_>, step: &StepComparison) -> Vec<String> {
    let heading = step_heading(compared.comparison, step);
    let late = step.cells.iter().filter(|cell| cell.has_missed_rate());
    let sentence = |cell: &CellComparison| {
        let share = cell.metric(SHARE)?.spread.median;
        Some(format!(
            "{heading}: the background writers of {} reached {} of their target of {} rows/s: its \
             queries get no ratio.",
            cell.variant,
            percent(share),
            whole(target(step)?)
        ))
    };
    late.filter_map(sentence).collect()
}

/// Returns medians relative to those of the base, in two decimals and one line per variant.
fn relative(compared: &Compared<'_>) -> Option<Section> {
    let comparison = compared.comparison;
    let steps = plain_steps(comparison);
    let is_of_rows = steps.iter().any(|step| counts_rows(step) || target(step).is_some());
    if !is_of_rows || comparison.variants.len() < 2 {
        return None;
    }
    let base = comparison.variants.iter().position(|it| it.name == comparison.base)?;
    let mut table = of_variants(comparison, "");
    for step in &steps {
        let cells = step.cells.iter().map(|cell| ratio(compared, &step.cells[base], cell));
        table.figures(step_heading(comparison, step), cells);
    }
    let marks = "Ratios of medians, however noisy: < below 0.95, > above 1.05. Whether a difference \
                 is more than noise is shown by intervals and signs.";
    Some(Section {
        title: format!(
            "Throughput relative to {} as insert benchmark reports have it",
            comparison.base
        ),
        sentences: Vec::new(),
        tables: vec![table],
        remarks: vec![marks.to_owned()],
    })
}

fn ratio(compared: &Compared<'_>, base: &CellComparison, own: &CellComparison) -> Cell {
    let median = |cell: &CellComparison| Some(cell.metric(THROUGHPUT)?.spread.median);
    let Some((base_rate, rate)) = median(base).zip(median(own)) else {
        return median_cell(THROUGHPUT, None);
    };
    let value = rate / base_rate;
    if !value.is_finite() {
        return MISSING.into();
    }
    let text = if value < 10.0 { format!("{value:.2}") } else { digits(value) };
    let (sign, tone) = match value {
        value if value < *MARKED.start() => ("<", Tone::Worse),
        value if value > *MARKED.end() => (">", Tone::Better),
        _ => (" ", Tone::Plain),
    };
    if base.has_missed_rate() || own.has_missed_rate() {
        Cell::from(text).set_aside()
    } else if compared.label == Label::Bogus {
        text.into()
    } else {
        Cell::new(format!("{text} {sign}"), tone)
    }
}
