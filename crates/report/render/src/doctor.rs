//! What `assay doctor` found, as a document and as a script.

use model::{CheckResult, CheckState, visible};
use serde::Serialize;
use serde_json::json;

use crate::document::{Document, Part};
use crate::format::{Format, Style};
use crate::report::Report;
use crate::trust::SEVERITIES;
use model::units::many;

impl Report for [CheckResult] {
    fn document(&self, _: Format, _: Style) -> Document {
        document(self)
    }

    fn data(&self) -> impl Serialize {
        json!({ "checks": self })
    }
}

/// Returns the results of one state.
fn of(results: &[CheckResult], state: CheckState) -> impl Iterator<Item = &CheckResult> {
    results.iter().filter(move |one| one.state == state)
}

/// Returns the counts, findings by severity, then what is unknown and what is fine.
fn document(results: &[CheckResult]) -> Document {
    let mut document = Document::from([vec![Part::Text(headline(results))]]);
    for (severity, heading, _) in SEVERITIES {
        let found = of(results, CheckState::Finding).filter(|one| one.severity == severity);
        let mut blocks = found.map(finding).peekable();
        if blocks.peek().is_some() {
            document.add([Part::title(heading)]);
            blocks.for_each(|block| document.add(block));
        }
    }
    for (heading, state) in [
        ("Unknown", CheckState::Unknown),
        ("Fine", CheckState::Fine),
        ("Not applicable", CheckState::NotApplicable),
    ] {
        let fact = |one: &CheckResult| {
            let value = one.value.as_ref().unwrap_or(&one.evidence);
            (one.check, format!("{}: {value}", one.subject))
        };
        let facts = Part::facts(of(results, state).map(fact));
        document.add(Part::title(heading).above([facts]));
    }
    if of(results, CheckState::Finding).next().is_some() {
        let hints = [
            "All remedies as one script to read and run as root: assay doctor --script",
            "Reason and source of each check: docs/reference/checks.md",
        ];
        document.add(hints.map(|hint| Part::Text(hint.to_owned())));
    }
    document
}

fn headline(results: &[CheckResult]) -> String {
    let count = |state| of(results, state).count();
    let findings = match count(CheckState::Finding) {
        0 => "Nothing was found".to_owned(),
        found => many(found, "finding"),
    };
    let unknown = match count(CheckState::Unknown) {
        0 => String::new(),
        some => format!(", {some} unknown"),
    };
    format!("{findings} in {}{unknown}.", many(results.len(), "check"))
}

fn finding(one: &CheckResult) -> Vec<Part> {
    let why = format!("{} {}", one.why, one.source);
    let facts = [("Evidence", one.evidence.clone()), ("Why", why)];
    let mut parts =
        vec![Part::Strong(format!("{}: {}", one.check, one.subject)), Part::facts(facts)];
    for (name, lines) in [("Fix", &one.remedy.fix), ("Undo", &one.remedy.undo)] {
        let lines = lines.iter().cloned().map(Part::Verbatim);
        parts.extend(Part::Note(format!("{name}:")).above(lines));
    }
    parts
}

/// Returns one shell script of all remedies, with the lines that undo them as comments.
pub fn doctor_script(results: &[CheckResult]) -> String {
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        "# Remedies of assay doctor: read them before you run them as root.".to_owned(),
        "# Settings written to /proc and /sys last until the next boot.".to_owned(),
    ];
    let findings: Vec<&CheckResult> = of(results, CheckState::Finding).collect();
    if findings.is_empty() {
        lines.push("# Nothing was found.".to_owned());
    }
    for one in findings {
        lines.push(String::new());
        lines.push(comment(&format!("{} ({}): {}", one.check, one.severity, one.evidence)));
        lines.push(comment(one.why));
        lines.extend(one.remedy.undo.iter().map(|line| comment(&format!("undo: {line}"))));
        lines.extend(one.remedy.fix.iter().map(|line| visible(line).into_owned()));
    }
    lines.join("\n") + "\n"
}

/// Returns text as one comment line: the log of the kernel may hold line breaks.
fn comment(text: &str) -> String {
    format!("# {}", visible(text).replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use model::MachineRemedy;
    use model::record::Severity;

    use super::*;

    fn result(check: &'static str, state: CheckState, severity: Severity) -> CheckResult {
        let remedy = MachineRemedy {
            fix: vec!["echo performance > /sys/x".to_owned()],
            undo: vec!["echo powersave > /sys/x".to_owned()],
        };
        CheckResult {
            check,
            subject: "CPU frequency governor",
            severity,
            state,
            value: (state != CheckState::Unknown).then(|| "powersave".to_owned()),
            evidence: "the governor is powersave".to_owned(),
            why: "Other governors follow the load.",
            source: "[Linux cpufreq]",
            remedy,
        }
    }

    fn results() -> Vec<CheckResult> {
        vec![
            result("governor", CheckState::Finding, Severity::Warning),
            result("kernel_log", CheckState::Finding, Severity::Blocking),
            result("wear", CheckState::Unknown, Severity::Warning),
            result("swap", CheckState::Fine, Severity::Warning),
        ]
    }

    #[test]
    fn findings_come_first_by_severity_and_unknown_is_apart_from_fine() {
        let style = Style { width: 90, ..Style::default() };
        insta::assert_snapshot!(results().render(Format::Text, style));
        let found = results().render(Format::Json, style);
        let found: serde_json::Value = serde_json::from_str(&found).unwrap();
        assert_eq!(found["checks"][2]["state"], "unknown");
        let none: [CheckResult; 0] = [];
        let text = none.render(Format::Markdown, style);
        assert_eq!(text, "Nothing was found in 0 checks.\n");
    }

    #[test]
    fn script_explains_each_remedy_and_how_to_undo_it() {
        insta::assert_snapshot!(doctor_script(&results()[..1]));
        let mut one = results().remove(0);
        one.evidence = "a\nreboot".to_owned();
        assert!(!doctor_script(&[one]).lines().any(|line| line.starts_with("reboot")));
    }
}
