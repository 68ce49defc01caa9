//! How far a comparison can be trusted, and what its author takes upon himself.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::record::Severity;

/// How far a comparison can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Nothing was found that doubts it.
    True,
    /// Usable, with stated doubts.
    Truthy,
    /// Not comparable, or not measured: no verdict may be drawn from it.
    Bogus,
}

impl Label {
    /// Returns the label that the gravest finding leaves; `None` when nothing was found.
    #[must_use]
    pub const fn of(gravest: Option<Severity>) -> Self {
        match gravest {
            None | Some(Severity::Note) => Self::True,
            Some(Severity::Warning) => Self::Truthy,
            Some(Severity::Blocking) => Self::Bogus,
        }
    }

    /// Returns the label as outputs are headed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::True => "TRUE",
            Self::Truthy => "TRUTHY",
            Self::Bogus => "BOGUS",
        }
    }

    /// Returns what the label means, in a few words.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::True => "no rule doubts it",
            Self::Truthy => "usable, with stated doubts",
            Self::Bogus => "no verdict may be drawn from it",
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule that the author of an experiment sets aside, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Code of the rule (`A001`).
    pub code: String,
    /// Why it does not matter to the question.
    pub reason: String,
}
