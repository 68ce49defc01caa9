//! Short texts that several outputs share: headings, legends, names of rows.

use analysis::{Comparison, IncompleteRun, StepComparison};
use model::{Better, Metric, OpUnit};

/// The metric that answers most questions.
pub(crate) const THROUGHPUT: &str = "throughput_ops_per_s";
/// The main metric where client and server share one CPU.
pub(crate) const SERVER_CPU: &str = "server_cpu_us_per_op";
/// Arrivals per second, where the experiment gives the rate.
pub(crate) const OFFERED: &str = "offered_ops_per_s";
/// Operations within the limit.
pub(crate) const GOODPUT: &str = "goodput_ops_per_s";
/// The highest rate found by a search.
pub(crate) const SUSTAINABLE: &str = "sustainable_ops_per_s";

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

/// Returns the steps in which operations, or metrics that the question names, were measured.
pub(crate) fn measured_steps(comparison: &Comparison) -> Vec<&StepComparison> {
    let has_named = |step: &StepComparison| {
        let mut cells = step.cells.iter();
        cells.any(|cell| step.answers.iter().any(|metric| cell.metric(metric).is_some()))
    };
    comparison.steps.iter().filter(|step| has_operations(step) || has_named(step)).collect()
}

/// Returns whether operations were measured in a step.
pub(crate) fn has_operations(step: &StepComparison) -> bool {
    step.cells.iter().any(|cell| cell.metric(THROUGHPUT).is_some())
}

/// Returns a step's heading: name, distribution or place, clients.
///
/// Distribution, else place, stand where another step has the same name; clients where there are
/// several levels.
pub(crate) fn step_heading(comparison: &Comparison, step: &StepComparison) -> String {
    let is_twin = |other: &&StepComparison| {
        other.clients == step.clients && other.name == step.name && other.index != step.index
    };
    let mut heading = step.name.clone();
    let mut twins = comparison.steps.iter().filter(|other| is_twin(other)).peekable();
    if twins.peek().is_some() {
        let has_own_distribution = twins.all(|twin| twin.distribution != step.distribution);
        heading.push_str(&match has_own_distribution {
            true => format!(" ({})", step.distribution),
            false => format!(" (step {})", step.index + 1),
        });
    }
    if comparison.levels().len() > 1 {
        heading.push_str(&format!(", {}", step.clients));
    }
    heading
}

/// Returns the unit of a step's throughput.
pub(crate) const fn rate_unit(step: &StepComparison) -> &'static str {
    if counts_rows(step) { "rows/s" } else { "ops/s" }
}

/// Returns a metric's name in words, without its unit: `server reads/op`, `response p99`.
pub(crate) fn metric_label(step: &StepComparison, metric: &str) -> String {
    if metric == THROUGHPUT {
        return rate_unit(step).to_owned();
    }
    let is_unit = |word: &&str| ["us", "ns", "kib", "bytes", "s"].contains(word);
    let (what, of) = metric.split_once("_per_").unwrap_or((metric, ""));
    let what: Vec<&str> = what.split('_').filter(|word| !is_unit(word)).collect();
    let what = what.join(" ").replace("cpu", "CPU");
    match of {
        "" => what,
        "op" if counts_rows(step) => what + "/row",
        of => format!("{what}/{}", of.replace('_', " ")),
    }
}

/// Returns what a metric means and which way is better, in one line.
pub(crate) fn meaning(metric: &Metric) -> String {
    let better = match metric.better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
        Better::Neither => "neither higher nor lower is better",
    };
    format!("{metric}: {}; {better}", metric.meaning)
}

/// Returns whether a step's costs and rates are per row.
pub(crate) const fn counts_rows(step: &StepComparison) -> bool {
    matches!(step.unit, OpUnit::Row | OpUnit::Rows(_))
}

/// Returns the level of clients as a suffix of headings.
pub(crate) fn level_suffix(clients: u32) -> String {
    format!(", {}", model::units::clients(clients))
}

/// Returns the level of clients of whole runs as a suffix, where there are several levels.
pub(crate) fn runs_suffix(comparison: &Comparison, clients: u32) -> String {
    if comparison.runs.len() > 1 { level_suffix(clients) } else { String::new() }
}

/// Returns a variant's name, marked as base or control where there are others.
pub(crate) fn variant_label(comparison: &Comparison, variant: &str) -> String {
    if variant == comparison.base && comparison.variants.len() > 1 {
        format!("{variant} (base)")
    } else if comparison.control.as_deref() == Some(variant) {
        format!("{variant} (control)")
    } else {
        variant.to_owned()
    }
}

/// Returns a run's name without its experiment.
pub(crate) fn run_name(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// Returns one incomplete run in a sentence.
pub(crate) fn incomplete_line(run: &IncompleteRun) -> String {
    let steps = match run.steps_counted {
        _ if run.has_failed_check => "no figure of the run counts".to_owned(),
        0 => "the run finished no step".to_owned(),
        1 => "the one finished step is counted".to_owned(),
        count => format!("the {count} finished steps are counted"),
    };
    format!("{} {}; {steps}", run_name(&run.run), run.how)
}
