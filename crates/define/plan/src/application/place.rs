//! Places of an application's statements in its file, for later errors.

use std::collections::BTreeMap;
use std::ops::Range;

use model::Dialect;
use model::sql::{PerDialect, StatementOwner};

use super::check::CHECK_KEYS;
use super::names::{Names, TABLE_KEYS};
use super::text::{SqlText, SqlTexts, executed};
use super::value::Value;
use crate::error::{PlanError, Source};
use crate::syntax::{Fields, Node, word};

/// Places of the statements of an application, in the order of their execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StatementPlaces {
    source: Source,
    places: BTreeMap<StatementOwner, PerDialect<Vec<Range<usize>>>>,
}

impl StatementPlaces {
    /// Points an error at a statement, where it is known.
    pub(crate) fn point(
        &self,
        error: PlanError,
        (owner, index): (&StatementOwner, usize),
        dialect: Dialect,
    ) -> PlanError {
        let places = self.places.get(owner).map(|places| places.by(dialect));
        match places.and_then(|places| places.get(index)) {
            Some(place) => error.at(&self.source, place.clone(), "rejected by the server"),
            None => error,
        }
    }
}

impl<'a> Names<'a> {
    /// Returns the places of every statement of tables, procedures and checks.
    pub(super) fn places(
        &self,
        (tables, checks): (&'a [Node<'a>], &'a [Node<'a>]),
        values: &[Value<'a>],
    ) -> Result<StatementPlaces, PlanError> {
        let mut places = BTreeMap::new();
        for node in tables {
            let fields = Fields::of(self.source, node, "[[table]]", &TABLE_KEYS)?;
            let name = (*fields.text("name")?.get_ref()).to_owned();
            let texts = self.sql_texts(fields.required("create")?, &[])?;
            places.insert(StatementOwner::Table(name), places_of(&texts));
        }
        for (name, node) in self.procedures {
            let name = word(name);
            let owner = StatementOwner::Procedure((*name.get_ref()).to_owned());
            let Some(sql) = self.written(name, node)?.get("sql") else { continue };
            places.insert(owner, places_of(&self.sql_texts(sql, values)?));
        }
        for node in checks {
            let fields = Fields::of(self.source, node, "[[check]]", &CHECK_KEYS)?;
            let name = (*fields.text("name")?.get_ref()).to_owned();
            let texts = self.sql_texts(fields.required("sql")?, &[])?;
            places.insert(StatementOwner::Check(name), places_of(&texts));
        }
        Ok(StatementPlaces { source: self.source.clone(), places })
    }
}

/// Returns the place of each statement, as often as it is executed.
fn places_of(texts: &SqlTexts<'_>) -> PerDialect<Vec<Range<usize>>> {
    let of = |texts: &[SqlText<'_>]| {
        executed(texts).into_iter().map(|(text, _)| text.place.clone()).collect()
    };
    PerDialect { postgres: of(&texts.postgres), mysql: of(&texts.mysql) }
}
