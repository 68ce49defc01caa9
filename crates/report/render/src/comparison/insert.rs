//! Background insert rates, as insert benchmark reports show them.
//!
//! Source: [Callaghan 2022-11-29]: the table of insert rates with its target row and the 95 % rule.

use analysis::{CellComparison, StepComparison};
use model::Unit;

use super::section::Section;
use crate::document::{Cell, Table, Tone, known};
use crate::figure::{MISSING, figure, percent};
use crate::input::Compared;
use crate::label::{step_heading, variant_label};

/// The rate that background writers reached.
const REACHED: &str = "writer_rows_per_s";
/// The same as a share of the target.
const SHARE: &str = "writer_rate_share";

/// Legend of figures in brackets.
pub(crate) const BRACKETS: &str = "In brackets: the background writers reached less than 95 % of \
                                   their target rate; these queries ran under a lighter load and \
                                   get no ratio.";

/// Returns whether a figure of the comparison stands in brackets.
pub(crate) fn has_brackets(compared: &Compared<'_>) -> bool {
    let mut cells = compared.comparison.steps.iter().flat_map(|step| &step.cells);
    cells.any(CellComparison::has_missed_rate)
}

/// Returns target and reached rate of the background writers of each step; `None` without any.
pub(super) fn part(compared: &Compared<'_>) -> Option<Section> {
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
            "All clients' writers together; deletes are not added to inserts. A rate is met if it \
             reaches 95 % of its target."
                .to_owned(),
        ],
        ..Section::default()
    })
}

/// Returns the target rate of the background writers of a step, rows per second.
fn target(step: &StepComparison) -> Option<f64> {
    let of_cell = |cell: &CellComparison| {
        let mean = |name: &str| Some(cell.metric(name)?.spread.mean);
        mean(SHARE).filter(|share| *share > 0.0).zip(mean(REACHED))
    };
    step.cells.iter().find_map(of_cell).map(|(share, reached)| reached / share)
}

fn reached(cell: &CellComparison) -> Cell {
    let Some(measured) = cell.metric(REACHED) else { return MISSING.into() };
    let text = whole(measured.spread.mean);
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
            "{heading}: the background writers of {} reached {} of their target of {} rows/s in the \
             median run: its queries get no ratio.",
            cell.variant,
            percent(share),
            whole(target(step)?)
        ))
    };
    late.filter_map(sentence).collect()
}
