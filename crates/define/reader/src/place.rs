//! Places of values: in the text of a file, or on the command line.

use std::ops::Range;

use toml::Spanned;

/// Where a value of an experiment is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Place {
    /// Part of the text of the file that is read.
    Text(Range<usize>),
    /// A flag of the command line, with its hyphens.
    Flag(String),
    /// Nowhere: Assay chose the value.
    #[default]
    Unwritten,
}

impl Place {
    /// Returns the place of what is typed after `--name`.
    pub fn flag(name: &str) -> Self {
        Self::Flag(format!("--{name}"))
    }

    /// Returns whether it is in a file.
    pub const fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl From<&Self> for Place {
    fn from(place: &Self) -> Self {
        place.clone()
    }
}

impl From<Range<usize>> for Place {
    fn from(range: Range<usize>) -> Self {
        Self::Text(range)
    }
}

impl From<&Range<usize>> for Place {
    fn from(range: &Range<usize>) -> Self {
        Self::Text(range.clone())
    }
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub place: Place,
}

impl<T> Placed<T> {
    /// Returns a value with its place.
    pub fn new(value: T, place: impl Into<Place>) -> Self {
        Self { value, place: place.into() }
    }
}

impl<S: AsRef<str>> From<&Spanned<S>> for Placed<String> {
    fn from(text: &Spanned<S>) -> Self {
        Self::new(text.get_ref().as_ref().to_owned(), text.span())
    }
}
