//! Searches for the highest rate: the rates found.

use analysis::{CellComparison, StepComparison};
use model::Unit;
use model::validity::SearchRecord;
use stats::Spread;

use super::open::{limit, times};
use super::section::Section;
use super::tables::{of_variants, ratio_cell, spread_cell, with_range};
use crate::document::{Cell, Table};
use crate::input::Compared;
use crate::label::{SUSTAINABLE, step_heading};
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
        "Mean [min..max] over the searches that found a rate; a rate counts if it stayed within \
         the limit in a long window without growing debt. Ratio [95 % interval]."
            .to_owned(),
    ];
    let mut tables = vec![table(compared, step)];
    if step.cells.iter().any(|cell| cell.metric(SUSTAINABLE).is_some()) {
        tables.push(times(compared, step));
        remarks.push(
            "Times are measured at each variant's highest rate, so they have no \
                      ratio."
                .to_owned(),
        );
    }
    let title = format!("{heading}: highest rate{}", limit.unwrap_or_default());
    Section { title, sentences, tables, remarks, ..Section::default() }
}

/// Returns what was found, as a sentence.
fn sentence(compared: &Compared<'_>, step: &StepComparison) -> String {
    let limit = limit(compared, step).map(|limit| format!(" within {limit}"));
    let heading = step_heading(compared.comparison, step) + &limit.unwrap_or_default();
    step_sentence(compared, step, &Claim::on(step, SUSTAINABLE), &heading)
        .unwrap_or_else(|| format!("{heading}: no search of the base found a rate."))
}

fn table(compared: &Compared<'_>, step: &StepComparison) -> Table {
    let searches = |cell: &CellComparison| -> Vec<&SearchRecord> {
        let records = compared.records(step, &cell.variant).into_iter();
        records.filter_map(|record| record.search.as_ref()).collect()
    };
    let mut table = of_variants(compared.comparison, "");
    let mut column = |heading: &str, cell_of: &dyn Fn(&CellComparison) -> Cell| {
        table.figures(heading, step.cells.iter().map(cell_of));
    };
    column("searches", &|cell| searches(cell).len().to_string().into());
    column("found\nnothing", &|cell| {
        let nothing = searches(cell).into_iter().filter(|search| search.found.is_none());
        nothing.count().to_string().into()
    });
    column("highest rate\nops/s", &|cell| spread_cell(SUSTAINABLE, cell));
    if compared.comparison.variants.len() > 1 {
        column("vs base", &|cell| ratio_cell(compared, SUSTAINABLE, cell, &step.cells));
    }
    column("failed above it\nops/s", &|cell| {
        let failed = searches(cell).into_iter().filter_map(|search| search.found?.failed_ops_per_s);
        with_range(Unit::OpsPerSecond, Spread::of(&failed.collect::<Vec<_>>()))
    });
    column("probes", &|cell| {
        let probes: usize = searches(cell).into_iter().map(|search| search.probes.len()).sum();
        probes.to_string().into()
    });
    table
}
