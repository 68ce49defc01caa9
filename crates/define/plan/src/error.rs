//! The one error of this crate: what is wrong, where, and what to do.

use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};

use crate::secret::masked;

/// What is wrong with an experiment, the place in its file, and the remedy. Nothing was run.
///
/// Passwords of addresses are replaced in everything that it shows.
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
    /// Returns an error without a place, for what came from the command line.
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

    /// Points the error at a place of a file; an empty place points nowhere.
    #[must_use]
    pub fn at(mut self, source: &Source, place: Range<usize>, label: impl Into<String>) -> Self {
        if !place.is_empty() && place.end <= source.text.len() {
            self.source_text = Arc::new(NamedSource::new(&source.name, masked(&source.text)));
            self.place = Some(place.into());
            self.label = label.into();
        }
        self
    }

    /// Adds what to do about it.
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
