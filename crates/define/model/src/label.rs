//! Validity labels of comparisons, and waived rules.

use serde::{Deserialize, Serialize};

use crate::finding::Severity;
use crate::names::names;

/// Validity label of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// No finding worse than a note.
    True,
    /// Usable, with stated warnings.
    Truthy,
    /// No difference was decided, and a doubling could not have been.
    Undecided,
    /// Not comparable: no verdict may be drawn from it.
    Bogus,
    /// Nothing of what the experiment is about has a figure.
    Nothing,
}

impl Label {
    /// Exit code of a program whose result has no answer: nothing measured, or nothing decided.
    pub const EXIT_NOTHING: u8 = 3;
    /// Exit code of a program whose results include a failed check.
    pub const EXIT_FAILED_CHECK: u8 = 4;

    /// Returns the label for the worst severity; `None` means no finding.
    pub const fn of(worst: Option<Severity>) -> Self {
        match worst {
            None | Some(Severity::Note) => Self::True,
            Some(Severity::Warning) => Self::Truthy,
            Some(Severity::Blocking) => Self::Bogus,
        }
    }

    /// Returns whether the result answers its question, or names what makes it bogus.
    pub const fn has_answer(self) -> bool {
        !matches!(self, Self::Undecided | Self::Nothing)
    }

    /// Returns what the label means, in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::True => "no rule warns",
            Self::Truthy => "usable, with stated warnings",
            Self::Undecided => "these runs could not have shown a change by a factor of 2",
            Self::Bogus => "no verdict may be drawn from these runs",
            Self::Nothing => "no step that the experiment measures has a result",
        }
    }
}

names!(Label, "a label": True "TRUE", Truthy "TRUTHY", Undecided "NOTHING DECIDED",
    Bogus "BOGUS", Nothing "NOTHING MEASURED");

/// A rule waived by the experiment's author, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Code of the rule (`A001`).
    pub code: String,
    /// Why it does not matter to the question.
    pub reason: String,
}
