//! The error of what a user wrote: message, place and remedy.

use std::fmt;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use model::secret::masked;

use crate::nearest::nearest;
use crate::place::Place;
use crate::secret::masked_source;

/// An error in an experiment: message, place in its file, and remedy.
///
/// Nothing has been run. Passwords are masked in message and excerpt.
#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct PlanError {
    message: String,
    /// The text that the place is in, joined when the whole text has been read.
    #[source_code]
    source_text: Option<Arc<NamedSource<String>>>,
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
    /// Returns an error without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: masked(&message.into()).into_owned(),
            source_text: None,
            place: None,
            label: "here".into(),
            remedy: None,
            others: Vec::new(),
        }
    }

    /// Returns an error about what is written at a place.
    pub fn here(place: impl Into<Place>, message: impl Into<String>) -> Self {
        Self::new(message).placed(place)
    }

    /// Points the error at a place, with a label.
    pub fn at(self, place: impl Into<Place>, label: impl Into<String>) -> Self {
        Self { label: label.into().into(), ..self }.placed(place)
    }

    /// Points the error at a place in the text that is read, or names the flag.
    pub fn placed(mut self, place: impl Into<Place>) -> Self {
        match place.into() {
            Place::Text(range) if !range.is_empty() => self.place = Some(range.into()),
            Place::Flag(flag) => self.message = format!("{flag}: {}", self.message),
            Place::Text(_) | Place::Unwritten => {}
        }
        self
    }

    /// Joins the text that was read to the places in it, unless they have theirs.
    pub fn within(mut self, source: &Source) -> Self {
        let text = Arc::new(NamedSource::new(&source.name, masked_source(&source.text)));
        for error in &mut self.others {
            error.source_text.get_or_insert_with(|| Arc::clone(&text));
        }
        self.source_text.get_or_insert(text);
        self
    }

    /// Returns whether the error points at a place in that text.
    pub fn is_within(&self, source: &Source) -> bool {
        let text = self.source_text.as_ref().filter(|_| self.place.is_some());
        text.is_some_and(|text| text.name() == source.name)
    }

    /// Adds the remedy of a wrong word: the nearest known one, or else `otherwise`.
    pub fn meant<'a>(
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
        let name = |error: &Self| error.source_text.as_ref().map(|text| text.name().to_owned());
        self.message == other.message && self.place == other.place && name(self) == name(other)
    }
}

/// Refuses what is written at a place, with the remedy.
///
/// # Errors
/// Always.
pub fn refuse<T>(
    place: impl Into<Place>,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Result<T, PlanError> {
    Err(PlanError::here(place, message).remedy(remedy))
}

impl From<String> for PlanError {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

/// Most errors that are collected: who repairs fifty of them checks again.
///
/// Our choice: a file may have thousands of wrong words, each with the text around it.
const ERRORS_MAX: usize = 50;

/// The independent errors of one experiment, in the order of the checks.
#[derive(Debug, Clone, Default)]
pub struct Errors(Vec<PlanError>);

impl Errors {
    /// Adds an error, with those related to it, unless it is there already.
    pub fn push(&mut self, mut error: PlanError) {
        let others = std::mem::take(&mut error.others);
        for error in std::iter::once(error).chain(others) {
            if !self.is_full() && !self.0.iter().any(|known| known.is_same(&error)) {
                self.0.push(error);
            }
        }
    }

    /// Returns a value; adds the error instead, if it is one.
    pub fn ok<T>(&mut self, result: Result<T, PlanError>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns a value or its type's default; adds the error, if it is one.
    pub fn or_default<T: Default>(&mut self, result: Result<T, PlanError>) -> T {
        self.ok(result).unwrap_or_default()
    }

    /// Returns whether no further error is collected: what follows need not be checked.
    pub fn is_full(&self) -> bool {
        self.0.len() >= ERRORS_MAX
    }

    /// Returns whether there is no error so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value when there is no error, or else the first with the others.
    ///
    /// # Errors
    /// The first error, with the others.
    pub fn result<T>(self, value: T) -> Result<T, PlanError> {
        let mut errors = self.0.into_iter();
        match errors.next() {
            None => Ok(value),
            Some(first) => Err(PlanError { others: errors.collect(), ..first }),
        }
    }
}

/// Name and text of a file, whether the user's or a shipped one.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Name for messages; empty for experiments typed on the command line.
    pub name: String,
    /// The whole text, passwords included.
    pub text: String,
}

impl Source {
    /// Returns a file of that name with that text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = masked_source(&self.text);
        f.debug_struct("Source").field("name", &self.name).field("text", &text).finish()
    }
}
