//! Next steps: commands that answer what a comparison leaves open.

use analysis::StepComparison;
use model::{Label, ShellCommand};
use stats::{Effect, Verdict, Why};

use crate::figure::declared;
use crate::input::Compared;
use crate::label::{SERVER_CPU, THROUGHPUT};

/// Returns shell commands, the most useful first.
pub fn next_steps(compared: &Compared<'_>) -> Vec<String> {
    let name = &compared.meta.name;
    let on_all = |start: &str| ShellCommand::of(start).operands([name]);
    let mut steps = Vec::new();
    if compared.label >= Label::Undecided {
        steps.push(on_all("assay lint"));
    }
    steps.extend(more_runs(compared));
    if compared.label == Label::Nothing {
        return steps.iter().map(ShellCommand::to_string).collect();
    }
    steps.extend(explain(compared));
    if compared.comparison.variants.len() > 1 {
        steps.push(on_all("assay compare").flag("--costs"));
    }
    steps.push(on_all("assay report"));
    steps.iter().map(ShellCommand::to_string).collect()
}

/// Returns the command that adds the runs which a verdict lacks.
///
/// A single run of each cell has no verdict, so runs can be added without choosing among results.
/// Runs of one variant have none, however many there are.
fn more_runs(compared: &Compared<'_>) -> Option<ShellCommand> {
    if compared.comparison.variants.len() == 1 {
        return None;
    }
    let run = ShellCommand::of("assay run").option("--resume", &compared.meta.name);
    let is_whole = compared.comparison.variants.iter().all(|it| it.complete == it.planned);
    if compared.comparison.repetitions == 1 && is_whole && compared.label < Label::Bogus {
        return Some(run.option("--repetitions", &PILOT_MIN.to_string()));
    }
    let margin = declared(compared.comparison.margin).replace(' ', "");
    let is_possible = is_too_coarse(compared) && can_be_extended(compared);
    is_possible.then(|| run.option("--until", &margin))
}

/// Returns whether a step's own question was left open for want of runs.
fn is_too_coarse(compared: &Compared<'_>) -> bool {
    let open = |effect: &Effect| {
        effect.verdict == Verdict::Inconclusive
            && matches!(effect.why, Some(Why::OneRun | Why::Wide | Why::Family))
    };
    own_questions(compared).any(|(.., effect)| open(effect))
}

/// Fewest repetitions of a pilot from which the number needed is computed.
///
/// Source: [Stein 1945], two-stage sampling; three is our choice: fewer give no usable variance.
const PILOT_MIN: u32 = 3;

/// Returns whether more repetitions can be added, and are worth it: once, to a pilot.
fn can_be_extended(compared: &Compared<'_>) -> bool {
    compared.label < Label::Bogus
        && compared.comparison.repetitions >= PILOT_MIN
        && compared.meta.pilot_repetitions.is_none()
}

/// Returns the command that explains the largest difference there is.
fn explain(compared: &Compared<'_>) -> Option<ShellCommand> {
    let is_apart =
        |effect: &Effect| matches!(compared.verdict(effect), Some(Verdict::Above | Verdict::Below));
    let size = |effect: &Effect| effect.ratio.ln().abs();
    let found = own_questions(compared).filter(|(_, metric, _, effect)| {
        matches!(*metric, THROUGHPUT | SERVER_CPU) && is_apart(effect)
    });
    let (step, _, variant, _) = found.max_by(|one, other| size(one.3).total_cmp(&size(other.3)))?;
    let (base, name) = (&compared.comparison.base, &compared.meta.name);
    let operands = [base.as_str(), variant, &step.name];
    Some(ShellCommand::of("assay explain").operands(operands).option("--in", name))
}

/// Iterates over step, metric, variant and effect of the questions; the control has none.
fn own_questions<'a>(
    compared: &'a Compared<'_>,
) -> impl Iterator<Item = (&'a StepComparison, &'static str, &'a str, &'a Effect)> {
    let comparison = compared.comparison;
    let steps = comparison.steps.iter().filter(|step| comparison.has_headline(step));
    steps.flat_map(move |step| {
        let cells = step.cells.iter().filter(move |cell| !compared.is_control(&cell.variant));
        cells.flat_map(move |cell| {
            step.own_metrics().filter_map(move |metric| {
                let effect = cell.metric(metric)?.versus_base.as_ref()?;
                Some((step, metric, cell.variant.as_str(), effect))
            })
        })
    })
}
