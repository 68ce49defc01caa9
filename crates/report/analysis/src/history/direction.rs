//! Which way each metric is better.

use model::{Better, metric};

use super::problem::HistoryError;
use super::series::History;

/// Directions of columns that are no metrics of ours, by the user.
#[derive(Debug, Clone, Default)]
pub struct Directions {
    /// Columns of which more is better.
    pub higher: Vec<String>,
    /// Columns of which less is better.
    pub lower: Vec<String>,
}

impl Directions {
    /// Sets each history's direction: the user's, else our metric's.
    ///
    /// # Errors
    /// For a column with both directions, or one that no history has.
    pub fn set(&self, histories: &mut [History]) -> Result<(), HistoryError> {
        let both = self.higher.iter().find(|name| self.lower.contains(name));
        if let Some(name) = both {
            return Err(HistoryError::BothWays(name.clone()));
        }
        for name in self.higher.iter().chain(&self.lower) {
            if !histories.iter().any(|one| one.name == *name) {
                // The histories of one metric are neighbours.
                let mut known: Vec<String> = histories.iter().map(|one| one.name.clone()).collect();
                known.dedup();
                return Err(HistoryError::UnknownMetric { name: name.clone(), known });
            }
        }
        for one in histories {
            let is_in = |names: &[String]| names.contains(&one.name);
            one.better = match metric::find(&one.name) {
                _ if is_in(&self.higher) => Some(Better::Higher),
                _ if is_in(&self.lower) => Some(Better::Lower),
                known => known.map(|metric| metric.better),
            };
        }
        Ok(())
    }
}
