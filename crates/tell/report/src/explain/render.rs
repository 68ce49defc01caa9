//! Explanations as text, Markdown and JSON.

use analysis::Explanation;
use model::Label;
use serde::Serialize;

use super::account::table;
use super::sentence::{headline, sentences};
use crate::comparison::fill;
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::meta::Meta;
use crate::trust;

/// Returns the explanations of one or more steps, headed by how far they can be trusted.
///
/// CSV is that of the comparison's own figures, where an explanation has none.
#[must_use]
pub fn render_explanations(
    compared: &Compared<'_>,
    explanations: &[Explanation],
    format: Format,
    style: Style,
) -> String {
    match format {
        Format::Text | Format::Csv => text(compared, explanations, style),
        Format::Markdown => markdown(compared, explanations),
        Format::Json => json(compared, explanations),
    }
}

fn text(compared: &Compared<'_>, explanations: &[Explanation], style: Style) -> String {
    let mut parts = vec![fill(&trust::headline(compared), style.width)];
    for one in explanations {
        let mut lines = vec![fill(&headline(one), style.width)];
        lines.extend(table(one).map(|table| table.text(style.width, style.has_colour)));
        lines.extend(sentences(one).iter().map(|line| fill(line, style.width)));
        parts.push(lines.join("\n"));
    }
    parts.join("\n\n") + "\n"
}

fn markdown(compared: &Compared<'_>, explanations: &[Explanation]) -> String {
    let mut parts = vec![trust::headline(compared)];
    for one in explanations {
        parts.push(format!("**{}**", headline(one)));
        parts.extend(table(one).map(|table| table.markdown()));
        let lines: Vec<String> = sentences(one).iter().map(|line| format!("- {line}")).collect();
        parts.push(lines.join("\n"));
    }
    parts.join("\n\n") + "\n"
}

#[derive(Serialize)]
struct Document<'a> {
    experiment: &'a Meta,
    label: Label,
    explanations: &'a [Explanation],
}

fn json(compared: &Compared<'_>, explanations: &[Explanation]) -> String {
    let document = Document { experiment: compared.meta, label: compared.label, explanations };
    let text = serde_json::to_string_pretty(&document);
    text.expect("its maps have text keys and its numbers are finite") + "\n"
}
