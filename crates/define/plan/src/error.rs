//! The error of this crate: message, place and remedy.

use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};

use crate::secret::masked;

/// An error in an experiment: message, place in its file, and remedy.
///
/// Nothing has been run. Passwords of addresses are masked in everything it displays.
#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct PlanError {
    message: String,
    #[source_code]
    source_text: Arc<NamedSource<String>>,
    #[label("{label}")]
    place: Option<SourceSpan>,
    label: String,
    #[help]
    remedy: Option<String>,
}

impl PlanError {
    /// Returns an error without a place, for command-line input.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: masked(&message.into()),
            source_text: Arc::new(NamedSource::new("command line", String::new())),
            place: None,
            label: String::new(),
            remedy: None,
        }
    }

    /// Points the error at a place, unless it is empty.
    #[must_use]
    pub fn at(mut self, source: &Source, place: Range<usize>, label: impl Into<String>) -> Self {
        if !place.is_empty() && place.end <= source.text.len() {
            self.source_text = Arc::new(NamedSource::new(&source.name, masked(&source.text)));
            self.place = Some(place.into());
            self.label = label.into();
        }
        self
    }

    /// Adds the remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(masked(&remedy.into()));
        self
    }
}

/// An experiment file's name and text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Name for messages; empty for experiments typed on the command line.
    pub name: String,
    /// The whole text.
    pub text: String,
}
