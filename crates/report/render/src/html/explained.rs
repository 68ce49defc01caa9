//! Each variant's largest difference explained, the others folded.

use model::ShellCommand;

use crate::device::storage_uses;
use crate::document::Part;
use crate::explain::{Block, chosen};
use crate::input::{Compared, ReportInput};
use model::units::many;

/// Returns the section: differences that are established, and use of the device.
pub(crate) fn section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let mut parts = differences(input, compared);
    if !input.storage.is_empty() {
        parts.push(Part::Heading(3, "Use of the device".to_owned()));
        parts.extend(storage_uses(input.storage));
    }
    parts
}

fn differences(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let chosen = chosen(input, compared);
    if chosen.is_empty() {
        return Vec::new();
    }
    let mut parts = vec![Part::Text(format!(
        "Where an operation's time or CPU goes: each variant in the step in which the metric of the \
         verdict differs most from {}. Figures are arithmetic means over the runs, which add up; their \
         differences have 95 % intervals [low, high].",
        compared.comparison.base
    ))];
    for one in chosen {
        let command = ShellCommand::of("assay explain")
            .operands([&compared.comparison.base, &one.variant])
            .option("--in", &compared.meta.id)
            .to_string();
        parts.push(Part::Heading(3, one.variant));
        parts.extend(one.largest.in_report());
        if !one.others.is_empty() {
            let summary = format!("{} in which it differs", many(one.others.len(), "other step"));
            let mut folded: Vec<Part> = one.others.into_iter().flat_map(Block::in_report).collect();
            folded.push(Part::Note(command));
            parts.push(Part::Folded(summary, folded));
        }
    }
    parts
}
