//! Which way each metric is better.

use model::{Better, metric};

use super::problem::HistoryError;
use super::series::History;

/// Directions of columns that are no metrics of ours, by the user.
#[derive(Debug, Clone, Default)]
pub struct Directions {
    /// Columns of which more is better: lists, separated by commas.
    pub higher: Vec<String>,
    /// Columns of which less is better: lists, separated by commas.
    pub lower: Vec<String>,
}

impl Directions {
    /// Sets each history's direction: the user's, else our metric's.
    ///
    /// # Errors
    /// For a column with both directions, or one that no history has.
    pub fn set(&self, histories: &mut [History]) -> Result<(), HistoryError> {
        let mut known: Vec<String> = histories.iter().map(|one| one.name.clone()).collect();
        // The histories of one metric are neighbours.
        known.dedup();
        let [higher, lower] = [&self.higher, &self.lower].map(|lists| names(lists, &known));
        let (higher, lower) = (higher?, lower?);
        if let Some(name) = higher.iter().find(|name| lower.contains(name)) {
            return Err(HistoryError::BothWays(name.clone()));
        }
        for one in histories {
            one.better = match metric::find(&one.name) {
                _ if higher.contains(&one.name) => Some(Better::Higher),
                _ if lower.contains(&one.name) => Some(Better::Lower),
                known => known.map(|metric| metric.better),
            };
        }
        Ok(())
    }
}

/// Returns the names in lists that commas separate; a name may have commas itself.
fn names(lists: &[String], known: &[String]) -> Result<Vec<String>, HistoryError> {
    let mut found = Vec::new();
    for list in lists {
        let parts: Vec<&str> = list.split(',').collect();
        let mut from = 0;
        while from < parts.len() {
            // The longest name that begins here.
            let name = |to: usize| parts[from..to].join(",").trim().to_owned();
            let mut ends = (from + 1..=parts.len()).rev();
            let Some(to) = ends.find(|to| known.contains(&name(*to))) else {
                let (name, known) = (name(from + 1), known.to_vec());
                return Err(HistoryError::UnknownMetric { name, known });
            };
            found.push(name(to));
            from = to;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_separated_by_commas_and_may_have_some() {
        let known = ["ops", "p99, ms", "a,b,c"].map(str::to_owned);
        let named = |list: &str| names(&[list.to_owned()], &known);
        for list in ["ops", "p99, ms", "a,b,c"] {
            assert_eq!(named(list), Ok(vec![list.to_owned()]));
        }
        assert_eq!(
            named("a,b,c,ops, p99, ms"),
            Ok(["a,b,c", "ops", "p99, ms"].map(str::to_owned).into())
        );
        let unknown = named("ops,qps").map_err(|error| error.to_string());
        assert_eq!(unknown, Err("no metric is named `qps`".to_owned()));
    }
}
