//! Violations of rules.

use std::fmt;

use crate::repo::Repo;

/// Finds the violations of a rule.
pub(crate) type Check = fn(&Repo) -> Vec<Violation>;

/// One breach of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The file, or the folder, it is about.
    pub(crate) path: String,
    /// Line, 1-based; `None` when it is about the whole file.
    pub(crate) line: Option<usize>,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

impl Violation {
    /// Returns a violation of a line.
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::of(path, message) }
    }

    /// Returns a violation of a whole file.
    pub(crate) fn of(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}
