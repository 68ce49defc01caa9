//! What findings are about: a rule of lint, or a check of the host.

use crate::finding::Severity;

/// The subject of findings, with its texts, and how it is checked.
#[derive(Debug, Clone, Copy)]
pub struct Topic<C> {
    /// Stable code: `A021` of a rule, `governor` of a check.
    pub code: &'static str,
    /// Short name, lower case (`inherited debt`).
    pub name: &'static str,
    /// Severity of its findings, unless a finding has another one.
    pub severity: Severity,
    /// When it is a finding, with the thresholds; empty where each finding states it.
    pub trigger: &'static str,
    /// Why it matters, in one or two sentences.
    pub why: &'static str,
    /// The remedy; empty where it depends on the machine.
    pub remedy: &'static str,
    /// Keys of the references, or the reason of our own choice.
    pub source: &'static str,
    /// How it is checked.
    pub check: C,
}

impl<C> Topic<C> {
    /// Returns a topic without texts, for the defaults of its fields.
    pub const fn of(check: C) -> Self {
        let severity = Severity::Warning;
        Self { code: "", name: "", severity, trigger: "", why: "", remedy: "", source: "", check }
    }

    /// Returns its texts with their headings, in the order of reports.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let texts = [
            ("Trigger", self.trigger),
            ("Why", self.why),
            ("Remedy", self.remedy),
            ("Source", self.source),
        ];
        texts.into_iter().filter(|(_, text)| !text.is_empty())
    }
}
