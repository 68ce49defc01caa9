//! The findings that matter most, and the number of the others.

use model::units::many;
use std::collections::BTreeSet;

use lint::{INCOMPLETE, LintFinding, Origin};
use model::ShellCommand;
use model::record::Severity;

use crate::document::fill;
use crate::findings::is_folded;
use crate::input::Compared;
use crate::sentence::list;
use crate::trust::{place, severity_mark};

/// Most lines of findings in a text.
///
/// Our choice: the answer, these and what to do next stay on one screen.
const LINES_MAX: usize = 5;

/// Columns before the further lines of an entry of a list.
const INDENT: usize = 4;

/// What a finding is to the reader of a short text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Blocking,
    Warning,
    Note,
    /// It follows from what the experiment's author chose.
    Choice,
    Waived,
}

impl Class {
    /// Returns the class of a finding in an experiment of that size.
    fn of(size: Option<&str>, one: &LintFinding) -> Self {
        let is_choice = lint::find(one.code)
            .is_some_and(|rule| matches!(rule.check.origin, Origin::ChosenSize | Origin::Chosen));
        match one.severity {
            _ if one.waived.is_some() => Self::Waived,
            Severity::Blocking => Self::Blocking,
            _ if is_choice || is_folded(size, one) => Self::Choice,
            Severity::Warning => Self::Warning,
            Severity::Note => Self::Note,
        }
    }

    /// Returns the noun of its findings.
    const fn noun(self) -> &'static str {
        match self {
            Self::Blocking => "blocking finding",
            Self::Warning => "warning",
            Self::Note | Self::Choice => "note",
            Self::Waived => "waived finding",
        }
    }
}

/// The findings of a short text.
#[derive(Debug, Default)]
pub(crate) struct Brief {
    /// The most severe, in [`LINES_MAX`] lines at most unless the first alone takes more.
    pub(crate) entries: Vec<String>,
    /// What the command that shows all findings adds to these; `None` without any finding.
    pub(crate) rest: Option<String>,
}

/// Returns the warnings that decide the label, one for each rule, and the number of the others.
///
/// Runs that are listed as incomplete are not repeated; their finding has its remedy, too.
pub(crate) fn brief(compared: &Compared<'_>, width: usize) -> Brief {
    let size = compared.meta.size.as_deref();
    let is_listed = |one: &LintFinding| {
        one.code == INCOMPLETE.code && !compared.comparison.incomplete.is_empty()
    };
    let mut others: Vec<(Class, &LintFinding)> = compared
        .findings
        .iter()
        .filter(|one| !is_listed(one))
        .map(|one| (Class::of(size, one), one))
        .collect();
    // A stable sort: the most severe first, of those the ones that the label depends on.
    others.sort_by_key(|(class, one)| (*class, is_preparatory(compared, one)));
    let mut brief = Brief::default();
    let (mut lines, mut shown) = (0, BTreeSet::new());
    others.retain(|(class, one)| {
        let is_first = *class <= Class::Warning && !shown.contains(one.code);
        let entry = entry(one);
        let more = fill(&entry, width.saturating_sub(INDENT)).lines().count();
        let is_shown = is_first && (lines == 0 || lines + more <= LINES_MAX);
        if is_shown {
            shown.insert(one.code);
            brief.entries.push(entry);
            lines += more;
        }
        !is_shown
    });
    let has_remedies = !brief.entries.is_empty() || compared.findings.iter().any(is_listed);
    brief.rest = (!compared.findings.is_empty()).then(|| rest(compared, &others, has_remedies));
    brief
}

/// Returns whether a finding is about steps alone that prepare those of the question.
fn is_preparatory(compared: &Compared<'_>, one: &LintFinding) -> bool {
    let mut steps = one.place.steps.iter();
    !one.place.steps.is_empty() && steps.all(|step| compared.comparison.is_preparatory(step))
}

/// Returns a finding without its remedy, and of its evidence the first clause.
fn entry(one: &LintFinding) -> String {
    let LintFinding { code, name, evidence, .. } = one;
    let evidence = first_clause(evidence);
    format!("{}{code} {name}: {evidence}{}", severity_mark(one), place(one))
}

/// Returns what stands before the first semicolon outside of brackets.
fn first_clause(text: &str) -> &str {
    let mut depth = 0_u32;
    let end = text.char_indices().find(|(_, letter)| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *letter == ';'
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Returns the sentence on the command that shows all findings with their remedies.
fn rest(compared: &Compared<'_>, others: &[(Class, &LintFinding)], has_remedies: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(has_remedies.then(|| "the remedies".to_owned()));
    let counted = |class: Class, noun: &str, is_of: &dyn Fn(&LintFinding) -> bool| {
        let count = others.iter().filter(|(of, one)| *of == class && is_of(one)).count();
        (count > 0).then(|| many(count, noun))
    };
    for class in [Class::Blocking, Class::Warning, Class::Note, Class::Waived] {
        let more = if has_remedies && class <= Class::Warning { "more " } else { "" };
        parts.extend(counted(class, &format!("{more}{}", class.noun()), &|_| true));
    }
    for (severity, class) in [(Severity::Warning, Class::Warning), (Severity::Note, Class::Note)] {
        let chosen = counted(Class::Choice, class.noun(), &|one| one.severity == severity);
        parts.extend(chosen.map(|text| format!("{text} on chosen settings")));
    }
    let lint = ShellCommand::of("assay lint").operands(&compared.meta.selection);
    format!("{lint} shows {}.", list(&parts))
}

#[cfg(test)]
mod tests {
    use super::super::sentence::testing::Sample;
    use super::*;

    fn finding(code: &str, severity: Severity, step: &str, evidence: &str) -> LintFinding {
        let rule = lint::find(code).expect("a rule");
        LintFinding {
            code: rule.code,
            name: rule.name,
            severity,
            evidence: evidence.to_owned(),
            remedy: "do what helps".to_owned(),
            place: lint::Place { steps: vec![step.to_owned()], ..lint::Place::default() },
            places: Vec::new(),
            waived: None,
        }
    }

    /// Goal: the most severe findings take five lines at most, one for each rule; the others are
    /// counted by kind in one line, and choices of the author are among these.
    #[test]
    fn findings_take_five_lines_and_one_that_counts_the_rest() {
        let warning = |code, evidence| finding(code, Severity::Warning, "readrandom", evidence);
        let mut found = vec![
            finding("A021", Severity::Blocking, "readrandom", "all 3 intervals are invalid"),
            warning("A003", "debt"),
            warning("A009", "threads"),
            warning("A012", "durations"),
            warning("A014", "failures"),
            warning("A021", "another guest took 3 % of the CPU"),
            warning("A022", "throttled"),
            warning("A024", "memory"),
            warning("A027", "short"),
            warning("A039", "once"),
        ];
        found.push(finding("A010", Severity::Note, "readrandom", "omission"));
        let brief = Sample::of(&[]).found(found).with(|compared| brief(compared, 120));
        insta::assert_snapshot!(brief.entries.join("\n"), @r"
        BLOCKING: A021 steal and neighbours: all 3 intervals are invalid (readrandom)
        A003 inherited debt: debt (readrandom)
        A009 too many busy threads: threads (readrandom)
        A012 durations differ: durations (readrandom)
        A014 failed operations: failures (readrandom)
        ");
        assert!(brief.rest.as_ref().is_some_and(|rest| rest.len() < 116), "{brief:?}");
        insta::assert_snapshot!(brief.rest.unwrap_or_default(), @"assay lint sample shows the remedies, 3 more warnings, 1 note and 2 warnings on chosen settings.");
    }

    #[test]
    fn of_the_evidence_the_first_clause_is_shown() {
        assert_eq!(
            first_clause("varies (95 %: [5 %, 7 %]; this estimate is poor), twice; it may be"),
            "varies (95 %: [5 %, 7 %]; this estimate is poor), twice"
        );
        assert_eq!(first_clause("a) b"), "a) b");
        let long = finding("A012", Severity::Warning, "readrandom", "it took 5 s; of 4 s");
        let brief = Sample::of(&[]).found(vec![long]).with(|compared| brief(compared, 120));
        assert_eq!(brief.entries, ["A012 durations differ: it took 5 s (readrandom)"]);
    }

    #[test]
    fn lines_are_counted_as_they_are_broken() {
        let long = "a long reason ".repeat(16);
        let found = ["A003", "A009", "A012"]
            .map(|code| finding(code, Severity::Warning, "readrandom", long.trim()));
        let brief = |width| {
            let sample = Sample::of(&[]).found(found.to_vec());
            sample.with(|compared| super::brief(compared, width)).entries.len()
        };
        assert_eq!((brief(400), brief(150), brief(40)), (3, 2, 1));
    }

    #[test]
    fn without_warnings_one_line_counts_what_there_is() {
        let rest = |found| Sample::of(&[]).found(found).with(|compared| brief(compared, 120)).rest;
        assert_eq!(rest(Vec::new()), None);
        let note = finding("A010", Severity::Note, "readrandom", "omission");
        assert_eq!(rest(vec![note.clone()]).unwrap(), "assay lint sample shows 1 note.");
        let waived = LintFinding { waived: Some("it is the question".to_owned()), ..note };
        assert_eq!(rest(vec![waived]).unwrap(), "assay lint sample shows 1 waived finding.");
    }
}
