//! Places of an application's statements in its file, for later errors.

use std::collections::BTreeMap;
use std::ops::Range;

use model::Dialect;
use model::sql::{PerDialect, StatementOwner};
use reader::error::{PlanError, Source};
use reader::syntax::{Fields, Node, word};

use crate::conditions::CHECK_KEYS;
use crate::names::{Names, TABLE_KEYS};
use crate::text::{DIALECTS, DIALECTS_OF_PROCEDURE, SqlText, SqlTexts, executed};
use crate::value::Value;

/// Places of the statements of an application, in the order of their execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatementPlaces {
    source: Source,
    places: BTreeMap<StatementOwner, PerDialect<Vec<Range<usize>>>>,
    /// Of those that differ for `MyRocks`.
    myrocks: BTreeMap<StatementOwner, Vec<Range<usize>>>,
}

impl StatementPlaces {
    /// Points an error at a statement, where it is known.
    ///
    /// `is_myrocks` is whether the server's tables are of `MyRocks`.
    pub fn point(
        &self,
        error: PlanError,
        (owner, index): (&StatementOwner, usize),
        (dialect, is_myrocks): (Dialect, bool),
    ) -> PlanError {
        let places = self.places.get(owner).map(|places| places.by(dialect));
        let places = self.myrocks.get(owner).filter(|_| is_myrocks).or(places);
        match places.and_then(|places| places.get(index)) {
            Some(place) => error.at(place.clone(), "rejected by the server").within(&self.source),
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
        let (mut places, mut myrocks) = (BTreeMap::new(), BTreeMap::new());
        for node in tables {
            let fields = Fields::of(node, "[[table]]", &TABLE_KEYS)?;
            let name = (*fields.text("name")?.get_ref()).to_owned();
            let texts = self.sql_texts(fields.required("create")?, &DIALECTS, &[])?;
            places.insert(StatementOwner::Table(name), places_of(&texts));
        }
        for (name, node) in self.procedures {
            let name = word(name);
            let owner = StatementOwner::Procedure((*name.get_ref()).to_owned());
            let Some(sql) = self.written(name, node)?.get("sql") else { continue };
            let texts = self.sql_texts(sql, &DIALECTS_OF_PROCEDURE, values)?;
            if !texts.myrocks.is_empty() {
                myrocks.insert(owner.clone(), ranges(&texts.myrocks));
            }
            places.insert(owner, places_of(&texts));
        }
        for node in checks {
            let fields = Fields::of(node, "[[check]]", &CHECK_KEYS)?;
            let name = (*fields.text("name")?.get_ref()).to_owned();
            let texts = self.sql_texts(fields.required("sql")?, &DIALECTS, &[])?;
            places.insert(StatementOwner::Check(name), places_of(&texts));
        }
        Ok(StatementPlaces { source: self.source.clone(), places, myrocks })
    }
}

/// Returns the place of each statement, by dialect.
fn places_of(texts: &SqlTexts<'_>) -> PerDialect<Vec<Range<usize>>> {
    PerDialect { postgres: ranges(&texts.postgres), mysql: ranges(&texts.mysql) }
}

/// Returns the place of each statement, as often as it is executed.
fn ranges(texts: &[SqlText<'_>]) -> Vec<Range<usize>> {
    executed(texts).into_iter().map(|(text, _)| text.place.clone()).collect()
}
