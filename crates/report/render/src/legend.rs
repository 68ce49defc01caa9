//! Legends of signs and runs.

use std::collections::BTreeSet;

use analysis::Comparison;
use model::Label;

use crate::input::Compared;
use crate::pipeline::pipelined_steps;
use crate::{figure, method, trust};

/// Returns what the signs mean, or why there are none.
pub(crate) fn sign_legend(compared: &Compared<'_>) -> String {
    let codes = trust::blocking(compared, None, false);
    if compared.has_no_verdict() {
        return match compared.label {
            Label::Nothing => "Ratios without a verdict: nothing was measured.".to_owned(),
            Label::True | Label::Truthy | Label::Undecided | Label::Bogus => {
                format!("Ratios without a verdict: blocked by {codes}.")
            }
        };
    }
    let blocked = match codes.as_str() {
        "" => String::new(),
        codes => format!("   without a sign: blocked by {codes}"),
    };
    let margin = figure::declared(compared.comparison.margin);
    let among = match compared.comparison.families.primary.comparisons {
        0 | 1 => String::new(),
        count => format!(", adjusted for {count} comparisons"),
    };
    format!(
        "\u{25b2} above, \u{25bc} below the base by {margin} or more: the 95 % interval excludes \
         1{among}   \u{25b3} \u{25bd} likewise, by less than {margin}   \u{2248} no difference \
         beyond {margin}: the 90 % interval is within {margin}   ? inconclusive{blocked}"
    )
}

/// Returns how many loads the runs share, and what that means for the intervals.
fn loads(comparison: &Comparison) -> Option<String> {
    let measured = comparison.steps.iter().filter(|step| !step.is_preparatory);
    let loads: BTreeSet<u32> =
        measured.flat_map(|step| &step.cells).filter_map(|cell| cell.loads).collect();
    let (fewest, most) = (loads.first()?, loads.last()?);
    let of = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    Some(match most {
        1 => " All runs of a variant begin from one load; differences hold only for these loads."
            .to_owned(),
        _ => format!(" Runs share {of} loads of each variant; the means of loads are compared."),
    })
}

/// Message where no run is left.
pub(crate) const INVALID: &str = "Nothing is counted: all runs are invalid.";

/// How figures and ratios belong together.
///
/// Source: [`stats::mean_of_runs`].
pub(crate) const MEANS: &str = "Means of runs are geometric, and a ratio is the ratio of the two \
                                means. If a run gave 0, the mean is arithmetic and there is no \
                                ratio.";

/// The same for several machines.
///
/// Source: [`stats::machines::classify_machines`].
const MEANS_OF_MACHINES: &str = "Means of runs are geometric over all machines, and a ratio is the \
                                 geometric mean of the ratios on each machine. If a run gave 0, \
                                 the mean is arithmetic and there is no ratio.";

/// Returns how figures and ratios of a comparison belong together.
pub(crate) const fn means(comparison: &Comparison) -> &'static str {
    if comparison.machines.is_some() { MEANS_OF_MACHINES } else { MEANS }
}

/// Returns the number of runs, what is shown of them, and the method of the intervals.
pub(crate) fn runs_legend(compared: &Compared<'_>) -> String {
    let comparison = compared.comparison;
    let Some((fewest, most)) = comparison.runs_per_cell() else {
        let why = if comparison.has_invalid_runs() { INVALID } else { "No run finished a step." };
        return why.to_owned();
    };
    let is_single = comparison.variants.len() < 2;
    let runs = match (fewest, most) {
        (1, 1) => "One run per cell".to_owned(),
        (fewest, most) if fewest == most => format!("{most} interleaved runs per cell"),
        (fewest, most) => format!("{fewest} to {most} interleaved runs per cell"),
    };
    let mut notes = String::new();
    if most > 1 && !is_single {
        notes = format!(" {}", means(comparison));
    }
    notes.extend(loads(comparison));
    notes.extend(pipelined_steps(compared).map(|text| format!(" {text}")));
    let methods = method::methods(comparison);
    let runs = match (is_single && comparison.levels().len() < 2, most) {
        (true, 1) => "One run".to_owned(),
        (true, _) => runs.replace(" interleaved runs per cell", " runs"),
        (false, _) => runs,
    };
    if is_single && most == 1 {
        format!(
            "{runs} shows a level, not a difference: a difference needs a second variant and 3 \
             repetitions.{notes}"
        )
    } else if is_single {
        format!(
            "{runs} show a level and its range, not a difference: a difference needs a second \
             variant.{notes}"
        )
    } else if methods.is_empty() {
        format!("{runs} gives no interval: run-to-run noise is unknown.{notes}")
    } else {
        format!("{runs}; intervals of ratios: {}.{notes}", methods.join("; "))
    }
}
