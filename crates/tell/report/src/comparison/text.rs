//! The comparison as text for a terminal.

use super::tables::{absolute, costs, relative};
use crate::format::Style;
use crate::input::Compared;
use crate::label::{
    doubt_lines, incomplete_line, measured_steps, plain_steps, range_legend, sign_legend,
};
use crate::meta::Meta;
use crate::table::Table;

/// Lines of a list that are shown before the rest is only counted.
const LIST_LINES: usize = 6;

/// Returns every part, legends, doubts and, if asked for, costs.
pub(super) fn render(compared: &Compared<'_>, style: Style) -> String {
    let (comparison, meta) = (compared.comparison, compared.meta);
    let width = style.width;
    let words = |text: &str| fill(text, width);
    let table = |table: &Table| table.text(width, style.has_colour);
    let base = &comparison.base;
    let mut parts = vec![heading(meta, width)];
    let has_several = comparison.variants.len() > 1;
    if !plain_steps(comparison).is_empty() {
        let title = words("Operations per second: median [min..max] of n runs");
        parts.push(format!("{title}\n{}", table(&absolute(comparison))));
        if has_several {
            let title =
                format!("Relative to {base}: ratio of medians [range of ratios of any two runs]");
            parts.push(format!("{}\n{}", words(&title), table(&relative(comparison))));
        }
    }
    for one in super::parts(compared) {
        let mut lines = vec![words(&one.title)];
        lines.extend(one.sentences.iter().map(|line| words(line)));
        lines.push(one.tables.iter().map(table).collect::<Vec<_>>().join("\n\n"));
        lines.extend(one.remarks.iter().map(|line| words(line)));
        parts.push(lines.join("\n"));
    }
    if has_several
        && parts.len() > 1
        && let Some(last) = parts.last_mut()
    {
        last.push_str(&format!("\n{}", words(&sign_legend())));
    }
    parts.push(words(&range_legend(comparison)));
    if style.has_costs {
        let title = format!("Costs per operation: medians, marked where above or below {base}");
        parts.push(words(&title));
        let steps = measured_steps(comparison);
        parts
            .extend(steps.iter().filter_map(|step| costs(comparison, step)).map(|one| table(&one)));
    }
    parts.extend(trouble(compared, width));
    parts.join("\n\n") + "\n"
}

/// Returns experiment, question, machine and durability.
fn heading(meta: &Meta, width: usize) -> String {
    let question = format!("{}: {}", meta.name, meta.question);
    [&question, &meta.host, &meta.durability].map(|line| fill(line, width)).join("\n")
}

/// Returns incomplete runs and doubts, each as one part; nothing when there are none.
pub(super) fn trouble(compared: &Compared<'_>, width: usize) -> Vec<String> {
    let incomplete = compared.comparison.incomplete.iter().map(incomplete_line).collect();
    [
        list("Incomplete runs", incomplete, width),
        list("Doubts", doubt_lines(compared.findings), width),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a titled list of at most [`LIST_LINES`] entries; `None` when it is empty.
fn list(title: &str, mut entries: Vec<String>, width: usize) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    let rest = entries.len().saturating_sub(LIST_LINES);
    entries.truncate(LIST_LINES);
    let mut lines: Vec<String> = vec![title.to_owned()];
    let indent = |entry: &String| {
        let filled = fill(entry, width.saturating_sub(2));
        filled.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    };
    lines.extend(entries.iter().map(indent));
    if rest > 0 {
        lines.push(format!("  and {rest} more"));
    }
    Some(lines.join("\n"))
}

/// Breaks `text` at spaces so that lines stay within `width` where words allow.
pub(crate) fn fill(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        let is_first = line.is_empty();
        if !is_first && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
            continue;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n")
}
