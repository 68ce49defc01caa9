//! The answer: ratios to the base, a line per step, then the figures.

use crate::comparison::{
    BRACKETS, Section, has_brackets, machines, notes, ratios, runs_table, sections, written_legend,
};
use crate::document::Part;
use crate::input::Compared;
use crate::label::{measured_steps, plain_steps};
use crate::legend::{INVALID, runs_legend};
use crate::sentence::{hidden, step_sentences};

/// Returns the section; what the question is about stands first, relative to the base.
pub(crate) fn section(compared: &Compared<'_>) -> Vec<Part> {
    let comparison = compared.comparison;
    let sections = sections(compared);
    let plain = plain_steps(comparison);
    if comparison.runs_per_cell().is_none() && comparison.has_invalid_runs() {
        return vec![Part::Text(format!("{INVALID} Reasons and remedies are under warnings."))];
    }
    if measured_steps(comparison).is_empty() && sections.is_empty() {
        let none = "No run finished a step in which operations are measured.";
        return vec![Part::Text(none.to_owned())];
    }
    let mut sentences = step_sentences(compared);
    sentences.extend(sections.iter().flat_map(|section| section.sentences.clone()));
    sentences.extend(hidden(compared));
    let mut parts = Vec::new();
    if comparison.variants.len() > 1 && !plain.is_empty() {
        let title = format!("Relative to {}: ratio [95 % interval]", comparison.base);
        parts.extend([Part::Heading(2, title), Part::Table(ratios(compared))]);
    }
    parts.push(Part::Sentences(sentences));
    if !plain.is_empty() {
        parts.push(Part::Table(runs_table(compared, &plain)));
    }
    for mut section in sections {
        section.sentences.clear();
        // Its sentences stand above.
        if !section.is_empty() {
            parts.extend(section.parts());
        }
    }
    parts.extend(machines::section(compared).into_iter().flat_map(Section::parts));
    let mut notes = notes(compared, comparison.variants.len() > 1);
    notes.extend(has_brackets(compared).then(|| BRACKETS.to_owned()));
    if comparison.variants.len() > 1 && !plain.is_empty() {
        notes.push(
            "Below figures: [smallest..largest run], which is a range and not an interval. Below \
             ratios: the 95 % interval [low, high]."
                .to_owned(),
        );
    }
    notes.extend(written_legend(comparison).filter(|_| !plain.is_empty()));
    notes.push(runs_legend(compared));
    parts.extend(notes.into_iter().map(Part::Note));
    parts
}
