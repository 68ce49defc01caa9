//! The section of the page: where the CPU of an operation goes.

use analysis::StepComparison;
use analysis::profile::{FlameGraph, Place, Side, StepProfile, flame_graph, sampled_differently};
use model::{ProfileTarget, ShellCommand};

use super::picture::Subject;
use crate::document::Part;
use crate::input::{Compared, ReportInput};
use crate::label::step_heading;

/// Title of the section.
pub(crate) const TITLE: &str = "Where the CPU goes";

/// Returns the flame graph of the base in the step with most of its samples, and the difference of
/// each other variant that was sampled in the same way, folded after the first; nothing without
/// profiles.
pub(crate) fn section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let base = input.comparison.base.as_str();
    let place = Place::most_profiled(input.runs, base, |_, _| true);
    let Some(place) = place else { return Vec::new() };
    let is_step =
        |step: &&StepComparison| step.index == place.step && step.clients.level == place.clients;
    let Some(step) = input.comparison.steps.iter().find(is_step) else { return Vec::new() };
    let side = |variant| StepProfile::side(input.profiles, input.runs, Place { variant, ..place });
    let of_base = side(base);
    let Some(own) = flame_graph(&of_base, None) else { return Vec::new() };
    let names = input.comparison.variants.iter().map(|variant| variant.name.as_str());
    let is_comparable = |side: &Side<'_>| {
        let runs = of_base.runs.iter().chain(&side.runs);
        sampled_differently(runs, &ProfileTarget::ALL).is_none()
    };
    let others = names.filter(|name| *name != base).map(side).filter(is_comparable);
    let differences = others.filter_map(|side| flame_graph(&side, Some(&of_base)));
    let graphs: Vec<FlameGraph> = [own].into_iter().chain(differences).collect();
    let heading = step_heading(input.comparison, step);
    let mut pictures = graphs.iter().enumerate().map(|(number, graph)| {
        let subject =
            Subject { graph, step: &heading, name: format!("flame-{number}"), is_file: false };
        Part::Picture(subject.picture())
    });
    let mut parts: Vec<Part> = pictures.by_ref().take(2).collect();
    let folded: Vec<Part> = pictures.collect();
    if !folded.is_empty() {
        let summary = model::units::many(folded.len(), "other variant");
        parts.push(Part::Folded(format!("{summary} compared with {base}"), folded));
    }
    parts.push(Part::Note(command(compared, step, base)));
    parts
}

/// Returns how to get a picture with zoom and search.
fn command(compared: &Compared<'_>, step: &StepComparison, base: &str) -> String {
    let command = ShellCommand::of("assay flame")
        .operands([compared.meta.id.as_str(), base, &step.name])
        .option("--clients", &step.clients.level.to_string())
        .option("--output", "flame.svg");
    format!("With zoom and search: `{command}`")
}
