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
