//! Searches for the highest rate: the rates found.

use analysis::StepComparison;
use model::Unit;
use model::validity::SearchRecord;
use stats::Spread;

use super::open::{limit, times};
use super::section::Section;
use super::tables::{ratio_cell, spread_cell, with_range};
use crate::document::{Cell, Table};
use crate::input::Compared;
use crate::label::{SUSTAINABLE, step_heading, variant_label};
use crate::sentence::{Claim, claim_sentences, step_sentence};

/// Returns a part for each step in which a rate was searched.
pub(super) fn parts(compared: &Compared<'_>) -> Vec<Section> {
    compared.searched_steps().into_iter().map(|step| part(compared, step)).collect()
}

fn part(compared: &Compared<'_>, step: &StepComparison) -> Section {
    let heading = step_heading(compared.comparison, step);
    let limit = limit(compared, step).map(|limit| format!(" within {limit}"));
    let sentences = match step.answers[..] {
        [] => vec![sentence(compared, step)],
        _ => claim_sentences(compared, step),
    };
    let mut remarks = vec![
        "Mean [min..max] over the searches that found one; a rate counts when it stayed within \
         the limit in a long window and no debt grew. Ratio [95 % interval]."
            .to_owned(),
    ];
    let mut tables = vec![table(compared, step)];
    if step.cells.iter().any(|cell| cell.metric(SUSTAINABLE).is_some()) {
        tables.push(times(compared, step));
        remarks.push("Times are those at each variant's own highest rate: no ratio.".to_owned());
    }
    let title = format!("{heading}: highest rate{}", limit.unwrap_or_default());
    Section { title, sentences, tables, remarks }
}

/// Returns what was found, as a sentence.
fn sentence(compared: &Compared<'_>, step: &StepComparison) -> String {
    let limit = limit(compared, step).map(|limit| format!(" within {limit}"));
    let heading = step_heading(compared.comparison, step) + &limit.unwrap_or_default();
    step_sentence(compared, step, &Claim::SUSTAINABLE, &heading)
        .unwrap_or_else(|| format!("{heading}: no search of the base found a rate."))
}

fn table(compared: &Compared<'_>, step: &StepComparison) -> Table {
    let mut table = Table::new([
        "",
        "searches",
        "found\nnothing",
        "highest rate\nops/s",
        "vs base",
        "failed above it\nops/s",
        "probes",
    ]);
    for cell in &step.cells {
        let records = compared.records(step, &cell.variant);
        let searches: Vec<&SearchRecord> =
            records.iter().filter_map(|record| record.search.as_ref()).collect();
        let nothing = searches.iter().filter(|search| search.found.is_none()).count();
        let failed: Vec<f64> = searches
            .iter()
            .filter_map(|search| search.found.and_then(|found| found.failed_ops_per_s))
            .collect();
        let probes: usize = searches.iter().map(|search| search.probes.len()).sum();
        table.push([
            Cell::from(variant_label(compared.comparison, &cell.variant)),
            searches.len().to_string().into(),
            nothing.to_string().into(),
            spread_cell(SUSTAINABLE, cell),
            ratio_cell(compared, SUSTAINABLE, cell),
            with_range(Unit::OpsPerSecond, Spread::of(&failed)),
            probes.to_string().into(),
        ]);
    }
    table
}
