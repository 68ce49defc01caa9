//! The comparison as text for a terminal.

use super::part::Part;
use super::tables::{absolute, costs, relative};
use super::{BRACKETS, bucket_tables, cpu, has_brackets};
use crate::format::Style;
use crate::input::Compared;
use crate::label::{incomplete_line, measured_steps, plain_steps, runs_legend, sign_legend};
use crate::published::render_published;
use crate::sentence::{control, detectable, hidden, step_sentences, warmup_trims};
use crate::table::Table;
use crate::trust::{explain_hint, finding_lines, headline, is_note, notes_line};

/// Lines of a list that are shown before the rest is only counted.
const LIST_LINES: usize = 6;

/// Returns label, step sentences, parts, legends, costs on request, warnings.
pub(super) fn render(compared: &Compared<'_>, style: Style) -> String {
    let comparison = compared.comparison;
    let width = style.width;
    let filled = |text: &str| fill(text, width);
    let table = |table: &Table| table.text(width, style.has_colour);
    let base = &comparison.base;
    let mut parts = vec![heading(compared, width)];
    let has_several = comparison.variants.len() > 1;
    let sentences = step_sentences(compared).into_iter().chain(hidden(compared));
    let sentences = sentences.map(|sentence| filled(&sentence));
    parts.extend(sentences.reduce(|one, next| one + "\n" + &next));
    let before_tables = parts.len();
    parts.extend(cpu::part(compared).map(|one| part(&one, style)));
    if !plain_steps(comparison).is_empty() {
        let title =
            filled("Operations per second: median of n runs [min..max], a range and no interval");
        parts.push(format!("{title}\n{}", table(&absolute(comparison))));
        if has_brackets(compared)
            && let Some(last) = parts.last_mut()
        {
            last.push_str(&format!("\n{}", filled(BRACKETS)));
        }
        if has_several {
            let title = format!("Relative to {base}: ratio of geometric means [95 % interval]");
            parts.push(format!("{}\n{}", filled(&title), table(&relative(compared))));
        }
    }
    parts.extend(super::parts(compared).iter().map(|one| part(one, style)));
    if has_several
        && parts.len() > before_tables
        && let Some(last) = parts.last_mut()
    {
        last.push_str(&format!("\n{}", filled(&sign_legend(compared))));
    }
    let mut notes: Vec<String> = detectable(compared).into_iter().collect();
    notes.extend(control(compared).into_iter().chain(warmup_trims(compared)));
    notes.push(runs_legend(compared));
    parts.push(notes.iter().map(|line| filled(line)).collect::<Vec<_>>().join("\n"));
    if style.has_costs {
        let title = format!(
            "Costs per operation: medians, marked where the verdict is above or below {base}"
        );
        parts.push(filled(&title));
        let steps = measured_steps(comparison);
        parts.extend(steps.iter().filter_map(|step| costs(compared, step)).map(|one| table(&one)));
        parts.extend(bucket_tables(compared).map(|one| part(&one, style)));
    }
    parts.extend(render_published(compared, style));
    parts.extend(problems(compared, width));
    parts.join("\n\n") + "\n"
}

/// Returns a part: its title, sentences, tables and remarks.
fn part(one: &Part, style: Style) -> String {
    let filled = |text: &String| fill(text, style.width);
    let table = |table: &Table| table.text(style.width, style.has_colour);
    let mut lines = vec![filled(&one.title)];
    lines.extend(one.sentences.iter().map(filled));
    lines.push(one.tables.iter().map(table).collect::<Vec<_>>().join("\n\n"));
    lines.extend(one.remarks.iter().map(filled));
    lines.join("\n")
}

/// Returns the label, experiment and question, machine and durability.
fn heading(compared: &Compared<'_>, width: usize) -> String {
    let meta = compared.meta;
    let question = format!("{}: {}", meta.name, meta.question);
    [&headline(compared), &question, &meta.host, &meta.durability]
        .map(|line| fill(line, width))
        .join("\n")
}

/// Returns incomplete runs and warnings, each as one part; nothing when there are none.
pub(super) fn problems(compared: &Compared<'_>, width: usize) -> Vec<String> {
    let incomplete = compared.comparison.incomplete.iter().map(incomplete_line).collect();
    let findings = compared.findings;
    let severe = findings.iter().filter(|one| !is_note(one));
    let mut warnings = list("Warnings", finding_lines(severe), width);
    let below = [notes_line(findings), explain_hint(findings)].into_iter().flatten();
    for line in below.map(|line| fill(&line, width.saturating_sub(2))) {
        let list = warnings.get_or_insert_with(|| "No warning".to_owned());
        list.push_str(&format!("\n  {line}"));
    }
    [list("Incomplete runs", incomplete, width), warnings].into_iter().flatten().collect()
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

/// Breaks `text` at spaces into lines of at most `width` columns.
///
/// A percent sign stays with its number.
pub(crate) fn fill(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    let mut rest = text.split(' ').peekable();
    while let Some(first) = rest.next() {
        let mut word = first.to_owned();
        while let Some(sign) = rest.next_if(|next| next.starts_with('%')) {
            word.push_str(&format!(" {sign}"));
        }
        let line = lines.last_mut().expect("there is always a line");
        let is_first = line.is_empty();
        if !is_first && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word);
            continue;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.join("\n")
}
