//! Places of an application's statements in its file, for later errors.

use std::collections::BTreeMap;
use std::ops::Range;

use model::Dialect;
use model::sql::{PerDialect, StatementOwner};
use reader::error::{PlanError, Source};

/// Places of the statements of an application, in the order of their execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatementPlaces {
    source: Source,
    places: BTreeMap<StatementOwner, PerDialect<Vec<Range<usize>>>>,
    /// Of those that differ for `MyRocks`.
    myrocks: BTreeMap<StatementOwner, Vec<Range<usize>>>,
}

impl StatementPlaces {
    /// Returns the places of an owner's statements, where they are known.
    ///
    /// `is_myrocks` is whether the server's tables are of `MyRocks`.
    pub fn of(
        &self,
        owner: &StatementOwner,
        dialect: Dialect,
        is_myrocks: bool,
    ) -> &[Range<usize>] {
        let places = self.places.get(owner).map(|places| places.by(dialect));
        self.myrocks.get(owner).filter(|_| is_myrocks).or(places).map_or(&[], Vec::as_slice)
    }

    /// Points an error at a statement.
    pub fn point(&self, error: PlanError, place: &Range<usize>) -> PlanError {
        error.at(place.clone(), "rejected by the server").within(&self.source)
    }
}

impl StatementPlaces {
    /// Returns the places of no statement.
    pub(super) fn new(source: &Source) -> Self {
        Self { source: source.clone(), ..Self::default() }
    }

    /// Adds the places of an owner's statements, by dialect.
    pub(super) fn add(&mut self, owner: StatementOwner, places: [Vec<Range<usize>>; 3]) {
        let [postgres, mysql, myrocks] = places;
        if !myrocks.is_empty() {
            self.myrocks.insert(owner.clone(), myrocks);
        }
        self.places.insert(owner, PerDialect { postgres, mysql });
    }
}
