//! Context of the checks of one application file.

use std::ops::Range;

use model::options::Text;
use model::sql::Table;
use toml::Spanned;

use super::expression::{Variables, is_name};
use super::file::File;
use super::token::TokenError;
use crate::catalog::Catalog;
use crate::error::{PlanError, Source};
use crate::nearest::nearest;

/// Shared context of the checks of one file.
pub(super) struct Names<'a> {
    pub(super) source: &'a Source,
    pub(super) file: &'a File,
    pub(super) variables: &'a Variables,
    pub(super) catalog: &'a dyn Catalog,
}

impl Names<'_> {
    /// Returns an error at a place of the file.
    pub(super) fn refuse(&self, place: Range<usize>, why: impl Into<String>) -> PlanError {
        PlanError::new(why).at(self.source, place, "here")
    }

    /// Returns an error at part of the text at `place`.
    pub(super) fn error_at_text(&self, place: Range<usize>, wrong: TokenError) -> PlanError {
        let inside = self.source.text.get(place.clone()).unwrap_or("");
        let at = inside.find(&wrong.text).filter(|_| !wrong.text.is_empty());
        let place =
            at.map_or(place.clone(), |at| place.start + at..place.start + at + wrong.text.len());
        self.refuse(place, wrong.why)
    }

    /// Returns the error of a name that is not among those known.
    pub(super) fn unknown<'b>(
        &self,
        name: &Spanned<String>,
        what: &str,
        known: impl IntoIterator<Item = &'b str>,
    ) -> PlanError {
        let word = name.get_ref();
        let error = PlanError::new(format!("unknown {what} `{word}`")).at(
            self.source,
            name.span(),
            format!("no such {what}"),
        );
        let known: Vec<_> = known.into_iter().collect();
        match nearest(word, known.iter().copied()) {
            Some(near) => error.remedy(format!("did you mean `{near}`?")),
            None if known.is_empty() => error.remedy(format!("the file has no {what}")),
            None => error.remedy(format!("known: {}", known.join(", "))),
        }
    }

    /// Resolves a keyword of a short list.
    pub(super) fn word<T: Copy>(
        &self,
        word: &Spanned<String>,
        what: &str,
        known: &[(&str, T)],
    ) -> Result<T, PlanError> {
        let found = known.iter().find(|(name, _)| name == word.get_ref());
        found
            .map(|(_, stands_for)| *stands_for)
            .ok_or_else(|| self.unknown(word, what, known.iter().map(|(name, _)| *name)))
    }

    /// Evaluates a number that must be at least `least`.
    pub(super) fn at_least(
        &self,
        text: &Spanned<Text>,
        least: i64,
        what: &str,
    ) -> Result<u64, PlanError> {
        self.variables.at_least(self.source, (&text.get_ref().0, text.span()), least, what)
    }

    /// Evaluates a number from `least` to the largest `u32`.
    pub(super) fn small(
        &self,
        text: &Spanned<Text>,
        least: i64,
        what: &str,
    ) -> Result<u32, PlanError> {
        let value = self.at_least(text, least, what)?;
        u32::try_from(value)
            .map_err(|_beyond| self.refuse(text.span(), format!("{what} of {value} is too large")))
    }

    /// Evaluates a number that may be negative.
    pub(super) fn signed(&self, text: &Spanned<Text>) -> Result<i64, PlanError> {
        self.variables.evaluate(&text.get_ref().0).map_err(|why| self.refuse(text.span(), why))
    }

    /// Checks a name defined by the file.
    pub(super) fn own_name(&self, name: &Spanned<String>, what: &str) -> Result<(), PlanError> {
        if is_name(name.get_ref()) {
            return Ok(());
        }
        Err(self
            .refuse(name.span(), format!("`{}` cannot be {what}'s name", name.get_ref()))
            .remedy("use letters, digits and `_`, and begin with a letter"))
    }

    /// Returns the position of a table.
    pub(super) fn table(&self, name: &Spanned<String>, tables: &[Table]) -> Result<u16, PlanError> {
        let found = tables.iter().position(|table| table.name == *name.get_ref());
        let names = tables.iter().map(|table| table.name.as_str());
        found
            .and_then(|position| u16::try_from(position).ok())
            .ok_or_else(|| self.unknown(name, "table", names))
    }

    /// Returns the position of a procedure.
    pub(super) fn procedure(&self, name: &Spanned<String>) -> Result<u16, PlanError> {
        let known = &self.file.procedure;
        let found = known.names().position(|known| known == name.get_ref());
        found
            .and_then(|position| u16::try_from(position).ok())
            .ok_or_else(|| self.unknown(name, "procedure", known.names()))
    }
}
