//! The answer: sentences, then the tables relative to the base.

use analysis::{CellComparison, Comparison, Measured, StepComparison};
use maud::{Markup, html};
use model::metric;

use super::table::table;
use crate::comparison::{BRACKETS, MISSED, OF_RUNS, Part, has_brackets, is_missed, parts};
use crate::figure::{self, MISSING};
use crate::input::Compared;
use crate::label::{
    INVALID, answer, measured_steps, plain_steps, runs_legend, sign_legend, step_heading,
    variant_label,
};
use crate::sentence::{control, detectable, hidden, step_sentences, warmup_trims};
use crate::table::Tone;

/// Returns the section.
pub(super) fn section(compared: &Compared<'_>) -> Markup {
    let comparison = compared.comparison;
    let parts = parts(compared);
    let mut sentences = step_sentences(compared);
    sentences.extend(parts.iter().flat_map(|part| part.sentences.clone()));
    sentences.extend(hidden(compared));
    html! {
        section id="answer" {
            h2 { "The answer" }
            @if comparison.runs_per_cell().is_none() && !comparison.invalid.is_empty() {
                p { (INVALID) " Reasons and remedies are under warnings." }
            } @else if measured_steps(comparison).is_empty() && parts.is_empty() {
                p { "No run finished a step in which operations are measured." }
            } @else {
                ul.sentences { @for sentence in sentences { li { (emphasis(&sentence)) } } }
                @for band in bands(comparison) { (band_table(compared, &band)) }
                @for part in &parts { (tables_of(part)) }
                @if comparison.variants.len() > 1 { (entries(&sign_legend(compared))) }
                @if let Some(detectable) = detectable(compared) { p.legend { (detectable) } }
                @if let Some(control) = control(compared) { p.legend { (control) } }
                @for trim in warmup_trims(compared) { p.legend { (trim) } }
                p.legend { (legend(compared)) }
            }
        }
    }
}

/// Returns what figures and ratios are, and what intervals rest on.
fn legend(compared: &Compared<'_>) -> String {
    let brackets = if has_brackets(compared) { format!("{BRACKETS} ") } else { String::new() };
    let runs = format!("{brackets}{}", runs_legend(compared));
    if compared.comparison.variants.len() < 2 || plain_steps(compared.comparison).is_empty() {
        return runs;
    }
    format!(
        "Figures: median, smallest..largest run below, a range and no interval. Ratios: of geometric \
         means, 95 % interval [low, high] below. {runs}"
    )
}

/// Returns the tables of open loops, searches and sweeps; their sentences stand above all tables.
fn tables_of(part: &Part) -> Markup {
    html! {
        h3 { (part.title) }
        @for one in &part.tables { (table(one)) }
        @for remark in &part.remarks { p.legend { (remark) } }
    }
}

/// Returns a sentence with its step in bold; a percent sign stays with its number.
pub(super) fn emphasis(sentence: &str) -> Markup {
    let sentence = sentence.replace(" %", "\u{a0}%");
    let step = sentence.split([':', ',']).next().unwrap_or_default().len();
    let (step, rest) = sentence.split_at(step);
    html! { @if rest.is_empty() { (step) } @else { strong { (step) } (rest) } }
}

/// Returns entries that stay whole where a line ends.
fn entries(legend: &str) -> Markup {
    html! { p.legend { @for entry in legend.split("   ") { span.entry { (entry) } " " } } }
}

/// Most steps side by side in one table.
const STEPS: usize = 4;

/// The columns of one table.
struct Band<'a> {
    steps: Vec<&'a StepComparison>,
    /// What whole runs cost: metric, heading, one cell per variant.
    of_runs: Vec<(&'static str, &'static str, &'a [CellComparison])>,
}

/// Returns the columns by level of clients, in tables of at most [`STEPS`] steps; what whole runs
/// cost stands in the last table of their level.
fn bands(comparison: &Comparison) -> Vec<Band<'_>> {
    let mut bands = Vec::new();
    for level in plain_steps(comparison).chunk_by(|one, next| one.clients == next.clients) {
        let of_level = level.chunks(STEPS);
        bands.extend(of_level.map(|steps| Band { steps: steps.to_vec(), of_runs: Vec::new() }));
        let runs = comparison.runs.iter().find(|runs| runs.clients == level[0].clients);
        if let (Some(last), Some(runs)) = (bands.last_mut(), runs) {
            let is_known = |name: &str| runs.cells.iter().any(|cell| cell.metric(name).is_some());
            let known = OF_RUNS.iter().filter(|(name, _)| is_known(name));
            last.of_runs =
                known.map(|(name, heading)| (*name, *heading, &runs.cells[..])).collect();
        }
    }
    bands
}

fn band_table(compared: &Compared<'_>, band: &Band<'_>) -> Markup {
    let comparison = compared.comparison;
    let Band { steps, of_runs } = band;
    html! {
        div.wide { table.answer {
            thead {
                tr {
                    th {}
                    @for step in steps {
                        th.step colspan="2" scope="colgroup" { (step_heading(comparison, step)) }
                    }
                    @for (_, heading, _) in of_runs { th rowspan="2" scope="col" { (heading) } }
                }
                tr {
                    th {}
                    @for step in steps { th.first { (answer(step).1) } th { "vs base" } }
                }
            }
            tbody {
                @for (index, variant) in comparison.variants.iter().enumerate() {
                    tr.base[variant.name == comparison.base] {
                        th scope="row" { (variant_label(comparison, &variant.name)) }
                        @for step in steps { (pair(compared, step, &step.cells[index])) }
                        @for (name, _, cells) in of_runs {
                            td.first { (median(name, cells[index].metric(name))) }
                        }
                    }
                }
            }
        } }
    }
}

/// Returns median with its range below, and ratio with its interval below.
fn pair(compared: &Compared<'_>, step: &StepComparison, cell: &CellComparison) -> Markup {
    let (name, _) = answer(step);
    let Some((measured, metric)) = cell.metric(name).zip(metric::find(name)) else {
        return html! { td.first { (MISSING) } td {} };
    };
    let is_aside = cell.has_missed_rate();
    let bracketed = |text: String| if is_aside { format!("({text})") } else { text };
    let spread = &measured.spread;
    let unit = metric.unit;
    let range = (spread.n > 1).then(|| figure::range(unit, spread));
    html! {
        td.first.none[is_aside] {
            (bracketed(figure::figure(unit, spread.median)))
            small { @if let Some(range) = range { (range) } @else { "n=1" } }
        }
        @if let Some(versus) = &measured.versus_base {
            @let class = match compared.tone(metric.better, versus) {
                Tone::Better => "better", Tone::Worse => "worse", Tone::Plain | Tone::Grey => "",
            };
            td class=(class) {
                (compared.versus(versus))
                @if let Some(interval) = versus.interval {
                    small { (figure::interval(&interval)) }
                }
            }
        } @else if is_missed(step, &compared.comparison.base, cell) {
            td.none { (MISSED) }
        } @else {
            td {}
        }
    }
}

fn median(name: &str, measured: Option<&Measured>) -> String {
    let shown = measured.zip(metric::find(name));
    let write =
        |(one, metric): (&Measured, &model::Metric)| figure::figure(metric.unit, one.spread.median);
    shown.map_or_else(|| MISSING.to_owned(), write)
}
