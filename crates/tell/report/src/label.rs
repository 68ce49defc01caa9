//! Short texts that several outputs share: headings, legends, names of rows.

use analysis::{Comparison, IncompleteRun, Measured, StepComparison, range_coverage};
use lint::Found;
use model::Better;
use model::record::Severity;
use stats::{Effect, Verdict};

use crate::figure;
use crate::table::{Cell, Tone};

/// The metric that answers most questions.
pub(crate) const THROUGHPUT: &str = "throughput_ops_per_s";
/// What arrived, where the experiment gives the rate.
pub(crate) const OFFERED: &str = "offered_ops_per_s";
/// What kept the limit.
pub(crate) const GOODPUT: &str = "goodput_ops_per_s";
/// What a search for a rate found.
pub(crate) const SUSTAINABLE: &str = "sustainable_ops_per_s";

/// What stands before a doubt that makes a result worthless.
const BLOCKING: &str = "BLOCKING: ";

/// From this many levels of clients on, a table has a row per level and not a column per step.
const SWEEP_LEVELS: usize = 3;

/// What sets the throughput of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loading {
    /// The engine: each client waits for its answer.
    Closed,
    /// The experiment.
    Given,
    /// A search for the highest rate.
    Searched,
}

/// Returns what sets the throughput of a step.
pub(crate) fn loading(step: &StepComparison) -> Loading {
    if step.is_rate_given {
        Loading::Given
    } else if step.cells.iter().any(|cell| cell.metric(SUSTAINABLE).is_some()) {
        Loading::Searched
    } else {
        Loading::Closed
    }
}

/// Returns whether the levels of clients are so many that they make a curve.
pub(crate) fn is_sweep(comparison: &Comparison) -> bool {
    comparison.levels().len() >= SWEEP_LEVELS
}

/// Returns the measured steps that have a column of throughput and a ratio of their own.
pub(crate) fn plain_steps(comparison: &Comparison) -> Vec<&StepComparison> {
    let mut steps = measured_steps(comparison);
    steps.retain(|step| loading(step) == Loading::Closed && !is_sweep(comparison));
    steps
}

/// Returns the steps in which operations were measured.
pub(crate) fn measured_steps(comparison: &Comparison) -> Vec<&StepComparison> {
    let has_throughput =
        |step: &&StepComparison| step.cells.iter().any(|cell| cell.metric(THROUGHPUT).is_some());
    comparison.steps.iter().filter(has_throughput).collect()
}

/// Returns a step's heading: its name, its place when the name is not unique, its clients when
/// there are several levels.
pub(crate) fn step_heading(comparison: &Comparison, step: &StepComparison) -> String {
    let is_twin = |other: &&StepComparison| {
        other.clients == step.clients && other.name == step.name && other.index != step.index
    };
    let mut heading = step.name.clone();
    if comparison.steps.iter().any(|other| is_twin(&other)) {
        heading.push_str(&format!(" (step {})", step.index + 1));
    }
    if comparison.levels().len() > 1 {
        heading.push_str(&level_suffix(step.clients));
    }
    heading
}

/// Returns what tells one level of clients from another in a heading.
pub(crate) fn level_suffix(clients: u32) -> String {
    format!(", {}", model::units::clients(clients))
}

/// Returns a variant's name, marked when it is the base.
pub(crate) fn variant_label(comparison: &Comparison, variant: &str) -> String {
    if variant == comparison.base { format!("{variant} (base)") } else { variant.to_owned() }
}

/// Returns a ratio with the sign of its verdict.
pub(crate) fn versus_text(versus: &Effect) -> String {
    format!("{} {}", figure::ratio(versus.ratio), figure::sign(versus.verdict))
}

/// Returns whether a ratio is good or bad news; plain when it may be noise or does not matter.
pub(crate) fn tone(better: Better, versus: &Effect) -> Tone {
    match (better, versus.verdict) {
        (Better::Higher, Verdict::Above) | (Better::Lower, Verdict::Below) => Tone::Better,
        (Better::Higher, Verdict::Below) | (Better::Lower, Verdict::Above) => Tone::Worse,
        _ => Tone::Plain,
    }
}

/// Returns the cell of a ratio to the base, without its range.
pub(crate) fn versus_cell(better: Better, measured: Option<&Measured>) -> Cell {
    let Some(measured) = measured else { return Cell::plain(figure::MISSING) };
    measured.versus_base.as_ref().map_or_else(Cell::default, |versus| Cell {
        text: versus_text(versus),
        tone: tone(better, versus),
    })
}

/// Returns what the signs mean.
pub(crate) fn sign_legend() -> String {
    use Verdict::{Above, Below, Equivalent, Inconclusive};
    let [above, below, near, unknown] = [Above, Below, Equivalent, Inconclusive].map(figure::sign);
    format!(
        "{above} above, {below} below: the 95 % interval excludes 1   {near} within the margin   \
         {unknown} inconclusive"
    )
}

/// Said where no run is left.
pub(crate) const INVALID: &str = "Nothing is counted: the runs there are are invalid.";

/// Returns how far medians and ranges of these repetitions can be trusted.
pub(crate) fn range_legend(comparison: &Comparison) -> String {
    let Some((fewest, most)) = comparison.runs_per_cell() else {
        let is_known = !comparison.invalid.is_empty();
        let told = if is_known { INVALID } else { "No step was finished by any run." };
        return told.to_owned();
    };
    let runs = match (fewest, most) {
        (1, 1) => return "One run per cell: run-to-run noise is unknown.".to_owned(),
        (fewest, most) if fewest == most => format!("{most}"),
        (fewest, most) => format!("{fewest} to {most}"),
    };
    let coverage = 100.0 * range_coverage(fewest);
    format!(
        "Medians and ranges of {runs} interleaved runs per cell, no test of significance. A range \
         of {fewest} runs holds the true median in {coverage:.0} % of experiments."
    )
}

/// Returns a run's name without its experiment.
pub(crate) fn run_name(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// Returns one incomplete run in a sentence.
pub(crate) fn incomplete_line(run: &IncompleteRun) -> String {
    let steps = match run.steps_counted {
        0 => "it finished no step".to_owned(),
        1 => "the step it finished is counted".to_owned(),
        count => format!("the {count} steps it finished are counted"),
    };
    format!("{} {}; {steps}", run_name(&run.run), run.how)
}

/// Returns the findings, each with what to do about it.
pub(crate) fn doubt_lines(findings: &[Found]) -> Vec<String> {
    let grave = |one: &Found| match one.weight() {
        Severity::Blocking => BLOCKING,
        Severity::Note | Severity::Doubt => "",
    };
    let tell =
        |one: &Found| format!("{}{} {} \u{2192} {}", grave(one), one.code, one.seen, one.remedy);
    findings.iter().map(tell).collect()
}
