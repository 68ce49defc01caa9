//! Context of the checks of one application file.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::Path;

use model::limits::is_sql_name;
use reader::error::{PlanError, Source, refuse};
use reader::syntax::{Node, Word, plain, scalar, text};
use toml::de::DeTable;

use crate::expression::Variables;
use crate::place::StatementPlaces;
use crate::token::TokenError;

/// Keyword for rows of the last statement without a condition.
pub(super) const FOUND: &str = "found";

/// The files of applications, and the key distributions that they may name.
pub trait ApplicationFiles {
    /// Returns the text of a shipped application.
    fn application(&self, name: &str) -> Option<String>;
    /// Returns the names of the shipped applications.
    fn application_names(&self) -> Vec<String>;
    /// Returns the text of a user's file: an application, a profile, or a rate.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn file(&self, path: &Path) -> Result<String, String>;
    /// Checks a key distribution as written, for a key space of `rows`.
    ///
    /// # Errors
    /// Names the error in the text and the known distributions.
    fn check_distribution(&self, text: &str, rows: u64) -> Result<(), String>;
}

/// Shared context of the checks of one file.
pub(super) struct Names<'a> {
    pub(super) source: &'a Source,
    /// The application's name.
    pub(super) name: Word<'a>,
    pub(super) variables: &'a Variables,
    pub(super) catalog: &'a dyn ApplicationFiles,
    /// The procedures as written.
    pub(super) procedures: &'a DeTable<'a>,
    /// Number of values in all statements so far.
    pub(super) values: Cell<usize>,
    /// Places of all statements so far.
    pub(super) places: RefCell<StatementPlaces>,
}

impl<'a> Names<'a> {
    /// Returns the place of a part of the text at `place`.
    pub(super) fn place_within(&self, place: Range<usize>, part: &str) -> Range<usize> {
        let inside = self.source.text.get(place.clone()).unwrap_or("");
        match inside.find(part).filter(|_| !part.is_empty()) {
            Some(at) => place.start + at..place.start + at + part.len(),
            None => place,
        }
    }

    /// Returns an error at part of the text at `place`.
    pub(super) fn error_at_text(&self, place: Range<usize>, wrong: TokenError) -> PlanError {
        PlanError::here(self.place_within(place, &wrong.text), wrong.why)
    }

    /// Resolves a keyword of a short list.
    pub(super) fn keyword<T: Clone>(
        &self,
        node: &'a Node<'a>,
        what: &str,
        known: &[(&str, T)],
    ) -> Result<T, PlanError> {
        let word = text(node)?;
        let found = known.iter().find(|(name, _)| name == word.get_ref());
        found
            .map(|(_, stands_for)| stands_for.clone())
            .ok_or_else(|| unknown(&word, what, known.iter().map(|(name, _)| *name)))
    }

    /// Evaluates a number that may be negative.
    pub(super) fn signed(&self, node: &Node<'_>) -> Result<i64, PlanError> {
        let text = scalar(node)?;
        self.variables.evaluate(&text).map_err(|why| PlanError::here(node.span(), why))
    }

    /// Evaluates a number that must be at least `least`.
    pub(super) fn number<T: TryFrom<i64>>(
        &self,
        node: &Node<'_>,
        least: i64,
        what: &str,
    ) -> Result<T, PlanError> {
        let (value, text) = (self.signed(node)?, plain(node.get_ref()));
        if value < least {
            let is = if text.trim() == value.to_string() {
                String::new()
            } else {
                format!(", and `{text}` is {value}")
            };
            return Err(PlanError::here(
                node.span(),
                format!("{what} must be at least {least}{is}"),
            ));
        }
        T::try_from(value).map_err(|_beyond| {
            PlanError::here(node.span(), format!("{what} of {value} is too large"))
        })
    }

    /// Evaluates a number that must be within a range.
    pub(super) fn number_within<T: TryFrom<i64>>(
        &self,
        node: &Node<'_>,
        (least, most): (i64, u64),
        what: &str,
    ) -> Result<T, PlanError> {
        let value: i64 = self.number(node, least, what)?;
        if value.unsigned_abs() > most {
            let why = format!("{value} is too large for {what}");
            return refuse(node.span(), why, format!("write at most {most}"));
        }
        self.number(node, least, what)
    }

    /// Returns the position of a procedure.
    pub(super) fn procedure(&self, name: &Word<'_>) -> Result<u16, PlanError> {
        position(name, "procedure", self.procedures.keys().map(|known| &**known.get_ref()))
    }
}

/// Checks a name defined by the file.
pub(super) fn own_name(name: &Word<'_>, what: &str) -> Result<(), PlanError> {
    if is_sql_name(name.get_ref()) {
        return Ok(());
    }
    let why = format!("`{}` cannot be {what}'s name", name.get_ref());
    refuse(name.span(), why, "use letters, digits and `_`, and begin with a letter")
}

/// Returns the error of a name that is not among those known.
pub(super) fn unknown<'b>(
    name: &Word<'_>,
    what: &str,
    known: impl IntoIterator<Item = &'b str>,
) -> PlanError {
    let known: Vec<_> = known.into_iter().collect();
    let otherwise = match known.is_empty() {
        true => format!("the file has no {what}"),
        false => format!("known: {}", known.join(", ")),
    };
    PlanError::new(format!("unknown {what} `{}`", name.get_ref()))
        .at(name.span(), format!("no such {what}"))
        .meant(name.get_ref(), known, otherwise)
}

/// Returns the position of a name among those known.
pub(super) fn position<'b>(
    name: &Word<'_>,
    what: &str,
    known: impl IntoIterator<Item = &'b str>,
) -> Result<u16, PlanError> {
    let known: Vec<_> = known.into_iter().collect();
    let found = known.iter().position(|known| known == name.get_ref());
    found
        .and_then(|position| u16::try_from(position).ok())
        .ok_or_else(|| unknown(name, what, known))
}
