//! Violations of rules.

use std::fmt;

/// Whether a violation fails the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing fails.
    Note,
    /// The check fails.
    Error,
}

/// One breach of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Whether it fails the check.
    pub severity: Severity,
    /// The file, or the folder, it is about.
    pub path: String,
    /// Line, 1-based; `None` when it is about the whole file.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub message: String,
}

impl Violation {
    /// Returns a violation of a line.
    #[must_use]
    pub fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::of(path, message) }
    }

    /// Returns a violation of a whole file.
    #[must_use]
    pub fn of(path: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            path: path.to_owned(),
            line: None,
            message: message.into(),
        }
    }

    /// Returns the same as a note, which fails nothing.
    #[must_use]
    pub fn note(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.severity == Severity::Note {
            f.write_str("note: ")?;
        }
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}
