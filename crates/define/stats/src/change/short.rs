//! Short histories: split one by one, each split tested.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::prune::Kept;
use crate::distribution::student;
use crate::pelt::Sums;

/// Histories of fewer values than this are split one by one.
///
/// Source: the project's reference, analysis, section 4.2: a penalty and a robust deviation of so
/// few values are too blunt.
pub const SHORT: usize = 25;
/// Fewest points of a level.
const FEWEST: usize = 2;
/// Largest chance, corrected for the places tried, at which a split is kept.
///
/// Source: as [`SHORT`].
pub(super) const CHANCE: f64 = 0.01;

/// Returns the changes of a short history.
///
/// The best split in two is kept when Student's t with the pooled variance, times the number of
/// places tried, has a chance of at most [`CHANCE`]; then both halves are split in turn. Where no
/// split in two is kept, the best split in three is tried by an F-test: a level that rises and
/// falls half-way back hides each of its changes from the other.
///
/// Source: the project's reference, analysis, section 4.2.
pub(super) fn split(sums: &Sums) -> Vec<Kept> {
    let mut found = Vec::new();
    let mut open = vec![(0, sums.len())];
    while let Some((from, to)) = open.pop() {
        let at = in_two(sums, from, to).or_else(|| in_three(sums, from, to)).unwrap_or_default();
        let mut start = from;
        for kept in &at {
            open.push((start, kept.at));
            start = kept.at;
        }
        if !at.is_empty() {
            open.push((start, to));
        }
        found.extend(at);
    }
    found.sort_by_key(|kept| kept.at);
    found
}

/// Returns the best split in two, if it is kept.
fn in_two(sums: &Sums, from: usize, to: usize) -> Option<Vec<Kept>> {
    let places = from + FEWEST..(to + 1).saturating_sub(FEWEST);
    let tried = places.len() as f64;
    let cost = |at: usize| sums.cost(from, at) + sums.cost(at, to);
    let at = places.min_by(|one, other| cost(*one).total_cmp(&cost(*other)))?;
    let df = (to - from - 2) as f64;
    let explained = sums.cost(from, to) - cost(at);
    let t = (explained / (cost(at) / df)).sqrt();
    keep(vec![at], tail(explained, t, |t| student::two_sided(t, df)) * tried)
}

/// Returns the best split in three, if it is kept.
fn in_three(sums: &Sums, from: usize, to: usize) -> Option<Vec<Kept>> {
    let len = to - from;
    if len < 3 * FEWEST + 1 {
        return None;
    }
    let pairs = (from + FEWEST..to - 2 * FEWEST + 1)
        .flat_map(|first| (first + FEWEST..to - FEWEST + 1).map(move |second| (first, second)));
    let tried = pairs.clone().count() as f64;
    let cost = |(first, second): (usize, usize)| {
        sums.cost(from, first) + sums.cost(first, second) + sums.cost(second, to)
    };
    let best = pairs.min_by(|one, other| cost(*one).total_cmp(&cost(*other)))?;
    let df = (len - 3) as f64;
    let explained = sums.cost(from, to) - cost(best);
    let f = explained / 2.0 / (cost(best) / df);
    let fisher = FisherSnedecor::new(2.0, df).ok()?;
    keep(vec![best.0, best.1], tail(explained, f, |f| fisher.sf(f)) * tried)
}

/// Returns the chance beyond a statistic, which is infinite where there is no noise at all.
fn tail(explained: f64, statistic: f64, of: impl Fn(f64) -> f64) -> f64 {
    match statistic {
        _ if explained <= 0.0 => 1.0,
        statistic if statistic.is_finite() => of(statistic),
        _ => 0.0,
    }
}

fn keep(at: Vec<usize>, p: f64) -> Option<Vec<Kept>> {
    (p <= CHANCE).then(|| at.into_iter().map(|at| Kept { at, p }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(values: &[f64]) -> Vec<usize> {
        split(&Sums::of(values)).iter().map(|kept| kept.at).collect()
    }

    #[test]
    fn constant_and_tiny_histories_have_no_change() {
        assert_eq!(at(&[5.0; 20]), [0; 0]);
        assert_eq!(at(&[1.0, 2.0, 3.0]), [0; 0]);
        assert_eq!(at(&[]), [0; 0]);
    }

    #[test]
    fn a_step_without_noise_is_certain() {
        let found = split(&Sums::of(&[5.0, 5.0, 5.0, 7.0, 7.0]));
        assert_eq!(found, [Kept { at: 3, p: 0.0 }]);
    }

    #[test]
    fn a_level_that_rises_and_falls_half_way_back_is_split_in_three() {
        // Apache Otava, tests/series_test.py, test_div_by_zero: the first change is at 3.
        let leading_zeros = [0.0, 0.0, 0.0, 1.0, 1.12, 0.9, 0.5, 0.51, 0.48, 0.48, 0.55];
        assert_eq!(at(&leading_zeros), [3, 6]);
    }
}
