//! The comparison as Markdown tables, to be pasted.

use super::part::Part;
use super::tables::{absolute, costs, relative};
use super::{BRACKETS, bucket_tables, cpu, has_brackets};
use crate::input::Compared;
use crate::label::{incomplete_line, measured_steps, plain_steps, runs_legend, sign_legend};
use crate::published;
use crate::sentence::{capital, control, detectable, hidden, step_sentences, warmup_trims};
use crate::table::Table;
use crate::trust::{explain_hint, finding_lines, headline};

/// Returns the same parts as the text format, as Markdown.
pub(super) fn render(compared: &Compared<'_>, has_costs: bool) -> String {
    let (comparison, meta) = (compared.comparison, compared.meta);
    let mut parts = vec![
        format!("**{}**", headline(compared)),
        format!("# {}: {}", meta.name, meta.question),
        format!("{}. {}.", meta.host, capital(&meta.durability)),
    ];
    let sentences = step_sentences(compared).into_iter().chain(hidden(compared));
    let sentences = sentences.map(|sentence| format!("- {sentence}"));
    parts.extend(sentences.reduce(|one, next| one + "\n" + &next));
    let has_several = comparison.variants.len() > 1;
    parts.extend(cpu::part(compared).into_iter().flat_map(part));
    if !plain_steps(comparison).is_empty() {
        parts.push(
            "## Operations per second\n\nMedian of n runs [min..max], a range and no interval."
                .to_owned(),
        );
        parts.push(absolute(comparison).markdown());
        parts.extend(has_brackets(compared).then(|| BRACKETS.to_owned()));
        if has_several {
            parts.push(format!(
                "## Relative to {}\n\nRatio of geometric means [95 % interval].",
                comparison.base
            ));
            parts.push(relative(compared).markdown());
        }
    }
    parts.extend(super::parts(compared).into_iter().flat_map(part));
    if has_several {
        parts.push(sign_legend(compared).replace("   ", " \u{b7} "));
        parts.extend(detectable(compared));
    }
    parts.extend(control(compared).into_iter().chain(warmup_trims(compared)));
    parts.push(runs_legend(compared));
    if has_costs {
        parts.push(format!(
            "## Costs per operation\n\nMedians; marked where the verdict is above or below {}.",
            comparison.base
        ));
        let steps = measured_steps(comparison);
        let tables = steps.iter().filter_map(|step| costs(compared, step));
        parts.extend(tables.map(|table| table.markdown()));
        parts.extend(bucket_tables(compared).into_iter().flat_map(part));
    }
    parts.extend(published::markdown(compared));
    parts.extend(problems(compared));
    parts.join("\n\n") + "\n"
}

/// Returns a part: its title, sentences, tables and remarks.
fn part(one: Part) -> Vec<String> {
    let mut parts = vec![format!("## {}", one.title)];
    parts.extend(one.sentences);
    parts.extend(one.tables.iter().map(Table::markdown));
    let remarks = one.remarks.iter().map(|line| format!("- {line}"));
    parts.extend(remarks.reduce(|a, b| a + "\n" + &b));
    parts
}

/// Returns incomplete runs and warnings as lists; nothing when there are none.
fn problems(compared: &Compared<'_>) -> Vec<String> {
    let comparison = compared.comparison;
    let mut parts = Vec::new();
    if !comparison.incomplete.is_empty() {
        let lines: Vec<String> =
            comparison.incomplete.iter().map(|run| format!("- {}", incomplete_line(run))).collect();
        parts.push(format!("## Incomplete runs\n\n{}", lines.join("\n")));
    }
    let lines = finding_lines(compared.findings);
    if !lines.is_empty() {
        parts.push(format!("## Warnings\n\n- {}", lines.join("\n- ")));
    }
    parts.extend(explain_hint(compared.findings).map(|hint| hint + "."));
    parts
}
