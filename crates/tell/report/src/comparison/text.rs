//! The comparison as text for a terminal.

use analysis::Comparison;

use super::tables::{absolute, costs, relative};
use crate::format::Style;
use crate::label::{incomplete_line, range_legend, sign_legend};
use crate::meta::Meta;

/// Lines of a list that are shown before the rest is only counted.
const LIST_LINES: usize = 6;

/// Returns absolute table, relative table, legends, doubts and, if asked for, costs.
pub(super) fn render(comparison: &Comparison, meta: &Meta, style: Style) -> String {
    let mut parts = vec![heading(meta)];
    let width = style.width;
    parts.push(format!(
        "Operations per second: median [min..max] of n runs\n{}",
        absolute(comparison).text(width, style.has_colour)
    ));
    if comparison.variants.len() > 1 {
        parts.push(format!(
            "Relative to {}: ratio of medians [lowest..highest ratio of any two runs]\n{}\n{}",
            comparison.base,
            relative(comparison).text(width, style.has_colour),
            sign_legend()
        ));
    }
    parts.push(fill(&range_legend(comparison), width));
    if style.has_costs {
        let tables = comparison.steps.iter().filter_map(|step| costs(comparison, step));
        let tables: Vec<String> = tables.map(|table| table.text(width, style.has_colour)).collect();
        parts.push(format!(
            "Costs per operation: medians; marked where above or below {}, ranges apart\n\n{}",
            comparison.base,
            tables.join("\n\n")
        ));
    }
    parts.extend(trouble(comparison, meta, width));
    parts.join("\n\n") + "\n"
}

/// Returns experiment, question, machine and durability.
pub(super) fn heading(meta: &Meta) -> String {
    format!("{}: {}\n{}\n{}", meta.name, meta.question, meta.host, meta.durability)
}

/// Returns incomplete runs and doubts, each as one part; nothing when there are none.
pub(super) fn trouble(comparison: &Comparison, meta: &Meta, width: usize) -> Vec<String> {
    let incomplete = comparison.incomplete.iter().map(incomplete_line).collect();
    let mut doubts: Vec<String> =
        comparison.doubts.iter().map(|doubt| format!("{}: {}", doubt.seen, doubt.remedy)).collect();
    doubts.extend(
        meta.findings.iter().map(|one| format!("{} {}: {}", one.code, one.seen, one.remedy)),
    );
    [list("Incomplete runs", incomplete, width), list("Doubts", doubts, width)]
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
