//! Findings and lint rules: the output of `assay lint`.

use lint::{LintFinding, Origin, Rule, moments};
use model::Label;
use model::experiment::MINUTES;
use model::record::Severity;
use model::units::many;
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Document, Part, Table};
use crate::format::{Format, Style};
use crate::report::Report;
use crate::trust::{SEVERITIES, place};

/// A checked plan, run or comparison.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Size of the experiment, by name.
    pub size: Option<String>,
    /// The label.
    pub label: Label,
    /// The findings, most severe first.
    pub findings: Vec<LintFinding>,
}

impl Report for [Checked] {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut all = Document::default();
        self.iter().for_each(|checked| all.append(grouped(checked)));
        all
    }

    fn data(&self) -> impl Serialize {
        let data = |Checked { name, label, findings, .. }: &Checked| json!({ "what": name, "label": label, "findings": findings });
        self.iter().map(data).collect::<Vec<_>>()
    }
}

/// Returns findings grouped by severity below the label.
///
/// Each has code, name, evidence and remedy; the first line lists every waiver. What follows from
/// the size `minutes` alone is one line.
fn grouped(checked: &Checked) -> Document {
    let (found, size) = (&checked.findings, checked.size.as_deref());
    let mut document = Document::from([vec![Part::Text(headline(checked))]]);
    let is_shown = |one: &&LintFinding| one.waived.is_none() && !is_folded(size, one);
    for (severity, heading, _) in SEVERITIES {
        let own = found.iter().filter(is_shown).filter(|one| one.severity == severity);
        document.add(Part::title(heading).above(own.flat_map(entry)));
    }
    let waived = found.iter().filter(|one| one.waived.is_some());
    document.add(Part::title("Waived").above(waived.flat_map(entry)));
    document.add(folded(size, found).map(Part::Text));
    let hint = found.first().map(|one| {
        format!("Each rule's trigger, reason and source: assay lint --explain {}", one.code)
    });
    document.add(hint.map(Part::Text));
    document
}

/// Returns whether a finding follows from the size of its experiment, `minutes`, alone.
pub fn is_folded(size: Option<&str>, one: &LintFinding) -> bool {
    let is_of_size = lint::find(one.code)
        .is_some_and(|rule| matches!(rule.check.origin, Origin::Size | Origin::ChosenSize));
    let is_short = size == Some(MINUTES);
    is_short && is_of_size && one.waived.is_none() && one.severity != Severity::Blocking
}

/// Returns the findings that follow from the size `minutes` alone, in one line; `None` without any.
pub fn folded(size: Option<&str>, findings: &[LintFinding]) -> Option<String> {
    let mut rules: Vec<(&str, &str, usize)> = Vec::new();
    for one in findings.iter().filter(|one| is_folded(size, one)) {
        match rules.iter_mut().find(|(code, ..)| *code == one.code) {
            Some((.., count)) => *count += 1,
            None => rules.push((one.code, one.name, 1)),
        }
    }
    let named = rules.iter().map(|(code, name, count)| format!("{code} {name} ({count})"));
    let named = named.collect::<Vec<_>>().join(", ");
    (!rules.is_empty()).then(|| {
        format!(
            "Caused by the size {MINUTES}, and gone at a longer size (--size night): \
                          {named}."
        )
    })
}

/// Returns the label and the number of findings, in one line.
fn headline(checked: &Checked) -> String {
    let Checked { name, label, findings: found, .. } = checked;
    let waived: Vec<String> = found
        .iter()
        .filter_map(|one| Some(format!("{} waived: {}", one.code, one.waived.as_ref()?)))
        .collect();
    let counts = SEVERITIES.iter().filter_map(|(severity, _, noun)| {
        let own = found.iter().filter(|one| one.waived.is_none() && one.severity == *severity);
        Some(own.count()).filter(|count| *count > 0).map(|count| many(count, noun))
    });
    let parts: Vec<String> = counts.chain(waived).collect();
    let found = if parts.is_empty() { "Nothing was found".to_owned() } else { parts.join(", ") };
    format!("{name}: {label}, {}. {found}.", label.meaning())
}

fn entry(one: &LintFinding) -> [Part; 2] {
    let facts = [
        ("Evidence", format!("{}{}", one.evidence, place(one))),
        ("Remedy", one.remedy.clone()),
        ("Waived", one.waived.clone().unwrap_or_default()),
    ];
    [Part::Strong(format!("{} {}", one.code, one.name)), Part::facts(facts)]
}

/// One rule with its texts and its findings.
#[derive(Debug, Clone, Copy)]
pub struct ExplainedRule<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// Findings, of other rules too.
    pub found: &'a [LintFinding],
}

impl ExplainedRule<'_> {
    fn own(&self) -> impl Iterator<Item = &LintFinding> {
        self.found.iter().filter(|one| one.code == self.rule.code)
    }
}

impl Report for ExplainedRule<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        let rule = self.rule;
        let moments = moments(rule).join(", ");
        let severity = rule.severity;
        let title = format!("{} {} ({severity}; checked on {moments})", rule.code, rule.name);
        let evidence =
            self.own().map(|one| ("Evidence", format!("{}{}", one.evidence, place(one))));
        let facts = evidence.chain(rule.texts().map(|(name, text)| (name, text.to_owned())));
        Document::from([vec![Part::Heading(1, title), Part::facts(facts)]])
    }

    fn data(&self) -> impl Serialize {
        let findings: Vec<_> = self.own().collect();
        json!({ "rule": texts_of(self.rule), "findings": findings })
    }
}

/// Every rule in a line.
impl Report for [&Rule] {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut table = Table::new(["", "<", "<", "<"]);
        for rule in self {
            let (severity, moments) = (rule.severity.name(), moments(rule).join(", "));
            table.push([rule.code, severity, rule.name, &moments]);
        }
        Document::from([vec![Part::Table(table)]])
    }

    fn data(&self) -> impl Serialize {
        self.iter().map(|rule| texts_of(rule)).collect::<Vec<_>>()
    }
}

/// Returns what a rule is.
fn texts_of(rule: &Rule) -> Value {
    json!({
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "checked_on": moments(rule),
        "trigger": rule.trigger,
        "why": rule.why,
        "remedy": rule.remedy,
        "source": rule.source,
    })
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
            places: Vec::new(),
            waived: waived.map(str::to_owned),
        }
    }

    fn checked(findings: &[LintFinding]) -> Checked {
        let label = lint::label(findings);
        Checked { name: "sample".to_owned(), size: None, label, findings: findings.to_vec() }
    }

    const STYLE: Style = Style { width: 90, has_colour: false, has_costs: false };

    fn text(checked: Checked) -> String {
        [checked].render(Format::Text, STYLE)
    }

    #[test]
    fn findings_are_grouped_by_severity() {
        let all = [found("A001", None), found("A010", None)];
        assert_snapshot!(text(checked(&all)));
        let text = text(checked(&[]));
        let label = model::Label::True.meaning();
        assert_eq!(text, format!("sample: TRUE, {label}. Nothing was found.\n"));
    }

    #[test]
    fn what_follows_from_minutes_alone_is_one_line() {
        let mut short = checked(&[found("A010", None), found("A027", None), found("A027", None)]);
        let line = "Caused by the size minutes, and gone at a longer size (--size night): A027 too \
                    short (2).";
        let shows = |short: &Checked, part: &str| text(short.clone()).contains(part);
        assert!(shows(&short, "A027 too short\n") && !shows(&short, line));
        short.size = Some(MINUTES.to_owned());
        assert!(shows(&short, line) && !shows(&short, "A027 too short\n"));
        assert!(shows(&short, "A010"));
    }

    #[test]
    fn waiver_stands_in_the_first_line() {
        let all = [found("A001", Some("the class is the question"))];
        let text = text(checked(&all));
        let label = model::Label::True.meaning();
        let first = format!("sample: TRUE, {label}. A001 waived: the class is the question.");
        assert_eq!(text.lines().next(), Some(first.as_str()));
        assert_snapshot!(text);
    }

    #[test]
    fn rule_is_explained_with_its_findings() {
        let rule = lint::find("a003").expect("a rule");
        assert_snapshot!(
            ExplainedRule { rule, found: &[found("A003", None)] }.render(Format::Text, STYLE)
        );
    }

    #[test]
    fn findings_are_written_as_json() {
        assert_snapshot!([checked(&[found("A001", None)])].render(Format::Json, STYLE));
    }

    #[test]
    fn every_rule_has_a_line() {
        assert_snapshot!(lint::rules().render(Format::Text, Style::default()));
    }
}
