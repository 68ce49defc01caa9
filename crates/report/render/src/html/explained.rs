//! Each variant's largest difference explained, the others folded.

use analysis::explain::{Question, StepProfiles};
use analysis::{Explanation, explain};
use model::ShellCommand;
use stats::{Effect, Verdict};

use crate::device::storage_uses;
use crate::document::Part;
use crate::explain::in_report;
use crate::input::{Compared, ReportInput};
use crate::label::{Loading, loading};
use model::units::many;

/// Returns the section: differences that are established, and use of the device.
pub(crate) fn section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let mut parts = differences(input, compared);
    parts.extend(
        Part::Heading(3, "Use of the device".to_owned()).above(storage_uses(input.storage)),
    );
    parts
}

fn differences(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let about = format!(
        "Where an operation's time or CPU goes: each variant in the step in which the metric of the \
         verdict differs most from {}. Figures are arithmetic means over the runs, which add up; their \
         differences have 95 % intervals [low, high].",
        compared.comparison.base
    );
    let names = input.comparison.variants.iter().map(|variant| variant.name.as_str());
    let others = names.filter(|name| *name != input.comparison.base && !compared.is_control(name));
    Part::Text(about).above(others.flat_map(|variant| of_variant(input, compared, variant)))
}

/// Returns a variant's largest established difference, and the others folded.
///
/// Left out: throughput set by the experiment or a search.
fn of_variant(input: &ReportInput<'_>, compared: &Compared<'_>, variant: &str) -> Vec<Part> {
    let steps = input.comparison.steps.iter().filter(|step| loading(step) == Loading::Closed);
    let explained = steps.filter_map(|step| {
        explain(&Question {
            experiment: &input.manifest.plan.experiment,
            runs: input.runs,
            comparison: input.comparison,
            step,
            variant,
            metric: None,
            cpus: input.host().cpus,
            blocking: &[],
            profiles: StepProfiles { stored: input.profiles, with_inclusive: false },
        })
    });
    let mut established: Vec<(f64, Explanation)> =
        explained.filter_map(|one| Some((size(compared, one.effect.as_ref()?)?, one))).collect();
    // Of two equal ones the earlier step.
    let places = (0..established.len()).rev();
    let largest = places.max_by(|a, b| established[*a].0.total_cmp(&established[*b].0));
    let Some(largest) = largest else { return Vec::new() };
    let (_, largest) = established.remove(largest);
    let mut parts = vec![Part::Heading(3, variant.to_owned())];
    parts.extend(in_report(compared, &largest));
    if !established.is_empty() {
        let summary = format!("{} in which it differs", many(established.len(), "other step"));
        let others = established.iter().flat_map(|(_, one)| in_report(compared, one));
        let command = ShellCommand::of("assay explain")
            .operands([compared.comparison.base.as_str(), variant])
            .option("--in", &compared.meta.id);
        let folded = others.chain([Part::Note(command.to_string())]).collect();
        parts.push(Part::Folded(summary, folded));
    }
    parts
}

/// Returns how large a difference is, on logarithms; `None` where it is not established or blocked.
fn size(compared: &Compared<'_>, effect: &Effect) -> Option<f64> {
    match compared.verdict(effect)? {
        Verdict::Above | Verdict::Below | Verdict::SmallButReal => Some(effect.ratio.ln().abs()),
        Verdict::Equivalent | Verdict::Inconclusive => None,
    }
}
