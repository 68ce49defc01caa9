//! Machines of a comparison: the ratios on each, and how far machines differ.

use analysis::{MachineFactor, MachineRatios, MachineRuns, StepComparison};
use model::times;
use model::units::many;
use stats::{Effect, Variation, Verdict};

use super::section::Section;
use crate::document::{Cell, Table, known};
use crate::figure::{self, limits, percent};
use crate::input::Compared;
use crate::label::{metric_label, step_heading};

/// Largest deviation that is printed: a larger one has no use.
const DEVIATION_MAX: f64 = 10.0;

/// Returns the class of machines that verdicts hold for; `None` for one machine.
pub(crate) fn class(compared: &Compared<'_>) -> Option<String> {
    let factor = compared.comparison.machines.as_ref()?;
    Some(match &factor.class {
        Some(class) => format!("for machines of class {class}"),
        None => "for machines of these classes".to_owned(),
    })
}

/// Returns the ratios by machine with their deviations; `None` for one machine.
pub(crate) fn section(compared: &Compared<'_>) -> Option<Section> {
    let factor = compared.comparison.machines.as_ref()?;
    let class = class(compared)?;
    let blocks =
        |one: &MachineRuns| format!("{} ({})", one.name, many(one.blocks as usize, "block"));
    let names: Vec<String> = factor.machines.iter().map(blocks).collect();
    let sentence = format!(
        "{}: {}. Blocks are compared on their own machine, and the machine is a random factor: \
         each machine has the same weight, and intervals and verdicts hold {class}.",
        many(names.len(), "machine"),
        names.join(", ")
    );
    let steps = compared.comparison.steps.iter();
    let tables = steps.flat_map(|step| tables(compared, factor, step)).collect();
    let mut remarks = vec![
        "Between machines: standard deviation of the ratio, without the noise of blocks [95 % \
         interval]. Between blocks: standard deviation of the ratio on one machine."
            .to_owned(),
    ];
    remarks.extend(factor.ratios.iter().filter_map(|one| outlier(compared, factor, one)));
    remarks.extend(factor.ratios.iter().filter_map(|one| more(compared, one)));
    let title = format!("Ratios to {} on each machine", compared.comparison.base);
    Some(Section { title, sentences: vec![sentence], tables, remarks, ..Section::default() })
}

/// Returns a table for each metric of a step: a row per machine, a column per variant.
fn tables(compared: &Compared<'_>, factor: &MachineFactor, step: &StepComparison) -> Vec<Table> {
    let table = |metric| {
        let is_own = |one: &&MachineRatios| {
            (one.index, one.clients, one.metric) == (step.index, step.clients, metric)
        };
        let own: Vec<&MachineRatios> = factor.ratios.iter().filter(is_own).collect();
        let names = factor.machines.iter().map(|one| one.name.as_str());
        let rows = names.chain(["between machines", "between blocks"]);
        let heading = step_heading(compared.comparison, step);
        let heading = match step.answers[..] {
            [] => heading,
            _ => format!("{heading}, {}", metric_label(step, metric)),
        };
        let mut table = Table::named(heading, rows);
        for one in &own {
            let ratio = |ratio: &Option<f64>| Cell::from(known(ratio.map(figure::digits)));
            let within = Cell::from(known(one.within.map(deviation)));
            let cells = one.ratios.iter().map(ratio).chain([between(one.between), within]);
            table.figures(one.variant.as_str(), cells);
        }
        (!own.is_empty()).then_some(table)
    };
    step.own_metrics().filter_map(table).collect()
}

/// Formats the deviation between machines with its interval.
fn between(known: Option<Variation>) -> Cell {
    known.map_or_else(Cell::default, |Variation { cov, low, high }| {
        Cell::from(deviation(cov)).with(limits(deviation(low), deviation(high)))
    })
}

/// Formats a deviation, a share.
fn deviation(share: f64) -> String {
    let over = if share > DEVIATION_MAX { "over " } else { "" };
    format!("{over}{}", percent(share.min(DEVIATION_MAX)))
}

/// Returns the place of a variant's ratios: `new in readrandom`.
fn place(compared: &Compared<'_>, ratios: &MachineRatios) -> Option<String> {
    let steps = &compared.comparison.steps;
    let is_own = |one: &&StepComparison| (one.index, one.clients) == (ratios.index, ratios.clients);
    let step = steps.iter().find(is_own)?;
    Some(format!("{} in {}", ratios.variant, step_heading(compared.comparison, step)))
}

/// Returns a sentence on a machine that differs from the others.
fn outlier(
    compared: &Compared<'_>,
    factor: &MachineFactor,
    ratios: &MachineRatios,
) -> Option<String> {
    let name = ratios.outlier.as_ref()?;
    let others = ratios.ratios.iter().flatten().count().saturating_sub(1);
    let at = factor.machines.iter().position(|one| one.name == *name)?;
    Some(format!(
        "{}: the ratio {} on {name} differs from the ratios on the other {others} machines by more \
         than the margin and than chance explains (Grubbs' test at 5 %, adjusted for the number of \
         machines). It is counted; {name} may have a \
         defect or other settings (assay doctor).",
        place(compared, ratios)?,
        figure::digits(ratios.ratios[at]?),
    ))
}

/// Returns a sentence on what more machines would decide; `None` where a verdict is drawn.
fn more(compared: &Compared<'_>, ratios: &MachineRatios) -> Option<String> {
    let steps = compared.comparison.steps.iter();
    let is_own = |one: &&StepComparison| (one.index, one.clients) == (ratios.index, ratios.clients);
    let cell = steps.filter(is_own).find_map(|step| step.cell(&ratios.variant))?;
    let effect: Effect = cell.metric(ratios.metric)?.versus_base?;
    let is_open = compared.verdict(&effect) == Some(Verdict::Inconclusive);
    let machines = ratios.ratios.iter().flatten().count();
    is_open.then(|| {
        let more = ratios.more;
        Some(format!(
            "{}: inconclusive on {}; {} such machines would give about {}.",
            place(compared, ratios)?,
            many(machines, "machine"),
            more.machines,
            half_width(more.half_width)
        ))
    })?
}

/// Formats a half-width: plus or minus 2 %, and from a doubling on a factor.
fn half_width(share: f64) -> String {
    match share {
        1.0.. => format!("{} either way", times(1.0 + share)),
        _ => format!("\u{b1}{}", percent(share)),
    }
}
