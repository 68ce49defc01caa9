//! Findings and lint rules: the output of `assay lint`.

use lint::{LintFinding, Rule, label};
use model::record::Severity;
use serde_json::{Value, json};

use crate::comparison::fill;
use crate::format::Style;
use crate::sentence::capital;
use crate::trust::{many, place};

/// Columns before the text of a part: `  Trigger  `.
const INDENT: usize = 11;

/// Returns findings grouped by severity below the label they leave.
///
/// Each has code, name, evidence and remedy; the first line lists every waiver.
#[must_use]
pub fn render_findings(what: &str, found: &[LintFinding], style: Style) -> String {
    let mut parts = vec![fill(&headline(what, found), style.width)];
    let groups = [
        ("Blocking", Some(Severity::Blocking)),
        ("Warnings", Some(Severity::Warning)),
        ("Notes", Some(Severity::Note)),
        ("Waived", None),
    ];
    for (heading, severity) in groups {
        let is_own = |one: &&LintFinding| match severity {
            Some(severity) => one.waived.is_none() && one.severity == severity,
            None => one.waived.is_some(),
        };
        let own: Vec<String> = found.iter().filter(is_own).map(|one| entry(one, style)).collect();
        if !own.is_empty() {
            parts.push(format!("{heading}\n{}", own.join("\n")));
        }
    }
    let first = found.first();
    parts.extend(first.map(|one| {
        format!("Each rule's trigger, reason and source: assay lint --explain {}", one.code)
    }));
    parts.join("\n\n") + "\n"
}

/// Returns the label and the number of findings, in one line.
fn headline(what: &str, found: &[LintFinding]) -> String {
    let label = label(found);
    let waived: Vec<String> = found
        .iter()
        .filter_map(|one| Some(format!("{} waived: {}", one.code, one.waived.as_ref()?)))
        .collect();
    let count = |severity| {
        found.iter().filter(|one| one.waived.is_none() && one.severity == severity).count()
    };
    let counts = [
        (count(Severity::Blocking), "blocking finding"),
        (count(Severity::Warning), "warning"),
        (count(Severity::Note), "note"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, noun)| many(*count, noun));
    let parts: Vec<String> = counts.chain(waived).collect();
    let found = if parts.is_empty() { "nothing was found".to_owned() } else { parts.join(", ") };
    format!("{what}: {label}, {}. {}.", label.meaning(), capital(&found))
}

fn entry(one: &LintFinding, style: Style) -> String {
    let head = format!("  {} {}", one.code, one.name);
    let mut parts = vec![("Evidence", format!("{}{}", one.evidence, place(one)))];
    parts.push(("Remedy", one.remedy.clone()));
    parts.extend(one.waived.clone().map(|reason| ("Waived", reason)));
    let lines = parts.iter().map(|(name, text)| part(name, text, 2, style));
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Returns one rule with its texts and its findings.
#[must_use]
pub fn render_rule(rule: &Rule, found: &[LintFinding], style: Style) -> String {
    let moments = rule.moments().join(", ");
    let mut lines = vec![format!(
        "{} {} ({}; checked on {moments})",
        rule.code,
        rule.name,
        severity_name(rule.severity)
    )];
    let own = found.iter().filter(|one| one.code == rule.code);
    let evidence =
        own.map(|one| part("Evidence", &format!("{}{}", one.evidence, place(one)), 0, style));
    lines.extend(evidence);
    let texts = [
        ("Trigger", rule.trigger),
        ("Why", rule.why),
        ("Remedy", rule.remedy),
        ("Source", rule.source),
    ];
    lines.extend(texts.iter().map(|(name, text)| part(name, text, 0, style)));
    lines.join("\n") + "\n"
}

/// Returns every rule in a line.
#[must_use]
pub fn render_rules(rules: &[&Rule]) -> String {
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let line = |rule: &&Rule| {
        format!(
            "{}  {:<8}  {:<width$}  {}",
            rule.code,
            severity_name(rule.severity),
            rule.name,
            rule.moments().join(", ")
        )
    };
    rules.iter().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

/// Returns the findings of each checked item with its label, as JSON.
#[must_use]
pub fn findings_json<'a>(
    checked: impl IntoIterator<Item = (&'a str, &'a [LintFinding])>,
) -> String {
    let one = |(what, found): (&str, &[LintFinding])| json!({ "what": what, "label": label(found), "findings": found });
    format!("{:#}", checked.into_iter().map(one).collect::<Value>())
}

/// Returns the name of a severity.
const fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Blocking => "blocking",
    }
}

/// Returns a named text whose lines stand below each other, `before` columns further in.
fn part(name: &str, text: &str, before: usize, style: Style) -> String {
    let indent = INDENT + before;
    let filled = fill(text, style.width.saturating_sub(indent).max(20));
    let filled = filled.replace('\n', &format!("\n{}", " ".repeat(indent)));
    format!("{:before$}  {name:<9}{filled}", "")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn found(code: &str, waived: Option<&str>) -> LintFinding {
        let rule = lint::find(code).expect("a rule");
        LintFinding {
            code: rule.code,
            name: rule.name,
            severity: rule.severity,
            evidence: "durability classes differ: os, sync".to_owned(),
            remedy: "give all variants one class".to_owned(),
            place: lint::Place::default(),
            waived: waived.map(str::to_owned),
        }
    }

    const STYLE: Style = Style { width: 90, has_colour: false, has_costs: false };

    #[test]
    fn findings_are_grouped_by_severity() {
        let all = [found("A001", None), found("A010", None)];
        assert_snapshot!(render_findings("sample", &all, STYLE));
        let text = render_findings("sample", &[], STYLE);
        let label = model::Label::True.meaning();
        assert_eq!(text, format!("sample: TRUE, {label}. Nothing was found.\n"));
    }

    #[test]
    fn waiver_stands_in_the_first_line() {
        let all = [found("A001", Some("the class is the question"))];
        let text = render_findings("sample", &all, STYLE);
        let label = model::Label::True.meaning();
        let first = format!("sample: TRUE, {label}. A001 waived: the class is the question.");
        assert_eq!(text.lines().next(), Some(first.as_str()));
        assert_snapshot!(text);
    }

    #[test]
    fn rule_is_explained_with_its_findings() {
        let rule = lint::find("a003").expect("a rule");
        assert_snapshot!(render_rule(rule, &[found("A003", None)], STYLE));
    }

    #[test]
    fn findings_are_written_as_json() {
        assert_snapshot!(findings_json([("sample", &[found("A001", None)][..])]));
    }

    #[test]
    fn every_rule_has_a_line() {
        assert_snapshot!(render_rules(lint::rules()));
    }
}
