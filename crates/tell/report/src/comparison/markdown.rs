//! The comparison as Markdown tables, to be pasted.

use super::tables::{absolute, costs, relative};
use crate::input::Compared;
use crate::label::{
    doubt_lines, incomplete_line, measured_steps, plain_steps, range_legend, sign_legend,
};
use crate::table::Table;

/// Returns the same parts as the text format, as Markdown.
pub(super) fn render(compared: &Compared<'_>, has_costs: bool) -> String {
    let (comparison, meta) = (compared.comparison, compared.meta);
    let mut parts = vec![
        format!("# {}: {}", meta.name, meta.question),
        format!("{}. {}.", meta.host, sentence(&meta.durability)),
    ];
    let has_several = comparison.variants.len() > 1;
    if !plain_steps(comparison).is_empty() {
        parts.push("## Operations per second\n\nMedian [min..max] of n runs.".to_owned());
        parts.push(absolute(comparison).markdown());
        if has_several {
            parts.push(format!(
                "## Relative to {}\n\nRatio of medians [range of ratios of any two runs].",
                comparison.base
            ));
            parts.push(relative(comparison).markdown());
        }
    }
    for one in super::parts(compared) {
        parts.push(format!("## {}", one.title));
        parts.extend(one.sentences);
        parts.extend(one.tables.iter().map(Table::markdown));
        parts.extend(
            one.remarks.iter().map(|line| format!("- {line}")).reduce(|a, b| a + "\n" + &b),
        );
    }
    if has_several {
        parts.push(sign_legend().replace("   ", " \u{b7} "));
    }
    parts.push(range_legend(comparison));
    if has_costs {
        parts.push(format!(
            "## Costs per operation\n\nMedians; marked where above or below {}, ranges apart.",
            comparison.base
        ));
        let steps = measured_steps(comparison);
        let tables = steps.iter().filter_map(|step| costs(comparison, step));
        parts.extend(tables.map(|table| table.markdown()));
    }
    parts.extend(trouble(compared));
    parts.join("\n\n") + "\n"
}

/// Returns incomplete runs and doubts as lists; nothing when there are none.
pub(crate) fn trouble(compared: &Compared<'_>) -> Vec<String> {
    let comparison = compared.comparison;
    let mut parts = Vec::new();
    if !comparison.incomplete.is_empty() {
        let lines: Vec<String> =
            comparison.incomplete.iter().map(|run| format!("- {}", incomplete_line(run))).collect();
        parts.push(format!("## Incomplete runs\n\n{}", lines.join("\n")));
    }
    let lines = doubt_lines(compared.findings);
    if !lines.is_empty() {
        parts.push(format!("## Doubts\n\n- {}", lines.join("\n- ")));
    }
    parts
}

/// Returns `text` with a capital first letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
