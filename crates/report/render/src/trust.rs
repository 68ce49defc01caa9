//! The label of a comparison and its lint findings as text.

use lint::{LintFinding, Place};
use model::record::Severity;
use model::units::many;
use model::{Label, ShellCommand, Waiver};

use crate::comparison::machines;
use crate::input::Compared;
use crate::label::run_name;
use crate::sentence::undecided;

/// Severities, the most severe first, each with the heading of its findings and their noun.
pub(crate) const SEVERITIES: [(Severity, &str, &str); 3] = [
    (Severity::Blocking, "Blocking", "blocking finding"),
    (Severity::Warning, "Warnings", "warning"),
    (Severity::Note, "Notes", "note"),
];

/// Codes named in the first line before the rest is only counted.
const NAMED: usize = 2;
/// Names of a place before the rest is only counted.
const PLACES: usize = 3;

/// Returns the first line: label, reason, waivers, where to read more.
pub fn headline(compared: &Compared<'_>) -> String {
    let label = compared.label;
    let of_loads = if is_of_loads(compared) { ", for these loads" } else { "" };
    let class = machines::class(compared).filter(|_| label < Label::Bogus);
    let class = class.map_or_else(String::new, |class| format!(", {class}"));
    let mut parts = vec![format!("Verdict: {label}{of_loads}{class}.")];
    let waived = waived(compared);
    parts.extend(waived.iter().map(|waiver| {
        let reason = waiver.reason.trim_end_matches('.');
        format!("{} waived: {reason}.", waiver.code)
    }));
    let lint = ShellCommand::of("assay lint").operands(&compared.meta.selection);
    let lint = format!("({lint})");
    let other = if waived.is_empty() { "" } else { "other " };
    let codes = blocking(compared, None, true);
    parts.push(match label {
        Label::True => format!("No {other}warning."),
        Label::Truthy => {
            let warnings = of_weight(compared, Severity::Warning).count();
            format!("Usable, with {} {lint}.", many(warnings, "warning"))
        }
        Label::Undecided => undecided(compared),
        Label::Bogus => {
            format!("No verdict may be drawn from {}: {codes} {lint}.", blocked_place(compared))
        }
        Label::Nothing => {
            format!("No step that the experiment measures has a result {lint}.")
        }
    });
    if label < Label::Bogus && !codes.is_empty() {
        parts.push(format!("No verdict on {}: {codes}.", blocked_place(compared)));
    }
    parts.join(" ")
}

/// Returns whether all runs of a variant begin from one load, so that nothing is known of others.
fn is_of_loads(compared: &Compared<'_>) -> bool {
    let steps = compared.comparison.steps.iter().filter(|step| !step.is_preparatory);
    let has_label = compared.label < Label::Bogus;
    has_label && steps.flat_map(|step| &step.cells).any(|cell| cell.loads == Some(1))
}

/// Returns what the blocking rules are about: `this comparison`, or `fillseq (lmdb)`.
fn blocked_place(compared: &Compared<'_>) -> String {
    let mut steps: Vec<String> = Vec::new();
    let mut variants: Vec<String> = Vec::new();
    for one in of_weight(compared, Severity::Blocking) {
        steps.extend_from_slice(&one.place.steps);
        variants.extend_from_slice(&one.place.variants);
    }
    for names in [&mut steps, &mut variants] {
        names.sort();
        names.dedup();
    }
    if compared.has_no_verdict() || steps.is_empty() && variants.is_empty() {
        return "this comparison".to_owned();
    }
    let variants = named(&variants);
    match (steps.is_empty(), variants.is_empty()) {
        (true, _) => variants,
        (false, true) => named(&steps),
        (false, false) => format!("{} ({variants})", named(&steps)),
    }
}

/// Returns the rules that block verdicts, of a step or of any: `A001 durability mismatch and 1
/// more`.
pub(crate) fn blocking(compared: &Compared<'_>, step: Option<&str>, has_names: bool) -> String {
    let mut codes: Vec<String> = Vec::new();
    let is_there = |one: &&LintFinding| {
        let steps = &one.place.steps;
        step.is_none_or(|step| steps.is_empty() || steps.iter().any(|name| name == step))
    };
    for one in of_weight(compared, Severity::Blocking).filter(is_there) {
        let code =
            if has_names { format!("{} {}", one.code, one.name) } else { one.code.to_owned() };
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    first(&codes, NAMED)
}

/// Returns the findings of this weight; waived ones count as notes.
fn of_weight<'a>(
    compared: &Compared<'a>,
    severity: Severity,
) -> impl Iterator<Item = &'a LintFinding> {
    compared.findings.iter().filter(move |one| one.weight() == severity)
}

/// Returns each waived rule once: those with findings, then the others.
pub(crate) fn waived(compared: &Compared<'_>) -> Vec<Waiver> {
    let applied = compared.findings.iter().filter_map(|one| {
        let reason = one.waived.clone()?;
        Some(Waiver { code: one.code.to_owned(), reason })
    });
    let mut waived: Vec<Waiver> = Vec::new();
    for one in applied.chain(compared.meta.waivers.iter().cloned()) {
        if !waived.iter().any(|known| known.code.eq_ignore_ascii_case(&one.code)) {
            waived.push(one);
        }
    }
    waived
}

/// Returns each finding in one entry: severity, code, name, evidence, place, remedy.
pub(crate) fn finding_lines<'a>(
    findings: impl IntoIterator<Item = &'a LintFinding>,
) -> Vec<String> {
    let entry = |one: &LintFinding| {
        let LintFinding { code, name, evidence, remedy, .. } = one;
        let severity = severity_mark(one);
        format!("{severity}{code} {name}: {evidence}{} \u{2192} {remedy}", place(one))
    };
    findings.into_iter().map(entry).collect()
}

/// Returns the text before a finding that is not a warning.
pub(crate) const fn severity_mark(one: &LintFinding) -> &'static str {
    match (one.waived.is_some(), one.severity) {
        (true, _) => "waived: ",
        (false, Severity::Blocking) => "BLOCKING: ",
        (false, Severity::Warning) => "",
        (false, Severity::Note) => "note: ",
    }
}

/// Returns the command that explains these findings; `None` without any.
pub(crate) fn explain_hint(findings: &[LintFinding]) -> Option<String> {
    findings.first().map(|first| {
        format!("Each rule's reason, remedy and source: assay lint --explain {}", first.code)
    })
}

/// Returns the place of a finding, ` (readrandom; lmdb)`, unless its evidence names it.
pub(crate) fn place(found: &LintFinding) -> String {
    let Place { steps, variants, runs } = &found.place;
    let is_named = |name: &str| found.evidence.contains(name);
    let all = || steps.iter().chain(variants).chain(runs).map(|name| run_name(name));
    if all().any(is_named) {
        return String::new();
    }
    // Runs are named only without steps and variants: they are many.
    let mut parts = vec![named(steps), named(variants)];
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        parts.extend((!runs.is_empty()).then(|| named(runs)));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

/// Returns names of steps, variants or runs; of many the first, and how many more.
fn named(names: &[String]) -> String {
    first(&names.iter().map(|name| run_name(name)).collect::<Vec<_>>(), PLACES)
}

/// Returns the first of some names, and how many more there are.
fn first<N: std::borrow::Borrow<str>>(names: &[N], most: usize) -> String {
    let named = names[..most.min(names.len())].join(", ");
    match names.len().saturating_sub(most) {
        0 => named,
        rest => format!("{named} and {rest} more"),
    }
}
