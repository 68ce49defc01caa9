//! The error of this crate: message, place and remedy.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use model::secret::masked;

use crate::nearest::nearest;
use crate::secret::masked_source;

/// An error in an experiment: message, place in its file, and remedy.
///
/// Nothing has been run. Passwords are masked in message and excerpt.
#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct PlanError {
    message: String,
    #[source_code]
    source_text: Arc<NamedSource<String>>,
    #[label("{label}")]
    place: Option<SourceSpan>,
    label: Box<str>,
    #[help]
    remedy: Option<Box<str>>,
    /// Further errors of the same experiment.
    #[related]
    others: Vec<PlanError>,
}

impl PlanError {
    /// Returns an error without a place, for command-line input.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: masked(&message.into()).into_owned(),
            source_text: Arc::new(NamedSource::new("command line", String::new())),
            place: None,
            label: "".into(),
            remedy: None,
            others: Vec::new(),
        }
    }

    /// Points the error at a place, unless it is empty.
    pub fn at(mut self, source: &Source, place: Range<usize>, label: impl Into<String>) -> Self {
        if !place.is_empty() && place.end <= source.text.len() {
            self.source_text =
                Arc::new(NamedSource::new(&source.name, masked_source(&source.text)));
            self.place = Some(place.into());
            self.label = label.into().into();
        }
        self
    }

    /// Adds the remedy of a wrong word: the nearest known one, or else `otherwise`.
    pub(crate) fn meant<'a>(
        self,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
        otherwise: impl Into<String>,
    ) -> Self {
        match nearest(word, known) {
            Some(near) => self.remedy(format!("did you mean `{near}`?")),
            None => self.remedy(otherwise),
        }
    }

    /// Adds the remedy.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into().into());
        self
    }

    /// Returns whether two errors would be displayed alike.
    fn is_same(&self, other: &Self) -> bool {
        let shown = |error: &Self| {
            (error.message.clone(), error.place, error.source_text.name().to_owned())
        };
        shown(self) == shown(other)
    }
}

/// Most errors that are collected: who repairs fifty of them checks again.
///
/// Our choice: a file may have thousands of wrong words, each with the text around it.
const ERRORS_MAX: usize = 50;

/// The independent errors of one experiment, in the order of the checks.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<PlanError>);

impl Errors {
    /// Adds an error, with those related to it, unless it is there already.
    pub(crate) fn push(&mut self, mut error: PlanError) {
        let others = std::mem::take(&mut error.others);
        for error in std::iter::once(error).chain(others) {
            if !self.is_full() && !self.0.iter().any(|known| known.is_same(&error)) {
                self.0.push(error);
            }
        }
    }

    /// Returns a value; adds the error instead, if it is one.
    pub(crate) fn ok<T>(&mut self, result: Result<T, PlanError>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns a value or its type's default; adds the error, if it is one.
    pub(crate) fn or_default<T: Default>(&mut self, result: Result<T, PlanError>) -> T {
        self.ok(result).unwrap_or_default()
    }

    /// Returns an optional value or a default; adds the error, if it is one.
    pub(crate) fn or<T>(&mut self, result: Result<Option<T>, PlanError>, default: T) -> T {
        self.ok(result).flatten().unwrap_or(default)
    }

    /// Returns whether no further error is collected: what follows need not be checked.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= ERRORS_MAX
    }

    /// Returns the number of errors so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the value when there is no error, or else the first with the others.
    pub(crate) fn result<T>(self, value: T) -> Result<T, PlanError> {
        let mut errors = self.0.into_iter();
        match errors.next() {
            None => Ok(value),
            Some(first) => Err(PlanError { others: errors.collect(), ..first }),
        }
    }
}

/// An experiment file's name and text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Name for messages; empty for experiments typed on the command line.
    pub name: String,
    /// The whole text, passwords included.
    pub text: String,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = masked_source(&self.text);
        f.debug_struct("Source").field("name", &self.name).field("text", &text).finish()
    }
}
