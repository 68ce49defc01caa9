//! Short histories: recursive splits, each tested.

use super::prune::Boundary;
use crate::distribution::{fisher, student};
use crate::pelt::Sums;

/// Fewest values of a long history.
///
/// Our choice: a penalty and a robust deviation need more values than this.
pub const SHORT: usize = 25;
/// Fewest points of a level.
const FEWEST: usize = 2;
/// Largest p-value, corrected for the places tried, of a split.
///
/// Our choice, by `tests/history`: one short history of white noise in fifty has a false change.
pub(super) const CHANCE: f64 = 0.01;

/// Returns the changes of a short history.
///
/// The best split in two is accepted when the p-value of Student's t with the pooled variance,
/// times the number of places tried, is at most [`CHANCE`]; then both halves are split in turn.
/// Where no split in two is accepted, the best split in three is tried by an F-test: a level that
/// rises and falls half-way back masks each of its changes by the other.
///
/// Source: binary segmentation [Scott Knott 1974], with a Bonferroni correction for the places.
pub(super) fn split(sums: &Sums) -> Vec<Boundary> {
    let mut found = Vec::new();
    let mut open = vec![(0, sums.len())];
    while let Some((from, to)) = open.pop() {
        let at = in_two(sums, from, to).or_else(|| in_three(sums, from, to)).unwrap_or_default();
        let mut start = from;
        for boundary in &at {
            open.push((start, boundary.at));
            start = boundary.at;
        }
        if !at.is_empty() {
            open.push((start, to));
        }
        found.extend(at);
    }
    found.sort_by_key(|boundary| boundary.at);
    found
}

/// Returns the best split in two, if significant.
fn in_two(sums: &Sums, from: usize, to: usize) -> Option<Vec<Boundary>> {
    let places = from + FEWEST..(to + 1).saturating_sub(FEWEST);
    let tried = places.len() as f64;
    let cost = |at: usize| sums.cost(from, at) + sums.cost(at, to);
    let at = places.min_by(|one, other| cost(*one).total_cmp(&cost(*other)))?;
    let df = (to - from - 2) as f64;
    let explained = sums.cost(from, to) - cost(at);
    let t = (explained / (cost(at) / df)).sqrt();
    accept(vec![at], tail(explained, t, |t| student::two_sided(t, df)) * tried)
}

/// Returns the best split in three, if significant.
fn in_three(sums: &Sums, from: usize, to: usize) -> Option<Vec<Boundary>> {
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
    accept(vec![best.0, best.1], tail(explained, f, |f| fisher::above(f, 2.0, df)) * tried)
}

/// Returns the p-value of a statistic, which is infinite without any noise.
fn tail(explained: f64, statistic: f64, of: impl Fn(f64) -> f64) -> f64 {
    match statistic {
        _ if explained <= 0.0 => 1.0,
        statistic if statistic.is_finite() => of(statistic),
        _ => 0.0,
    }
}

fn accept(at: Vec<usize>, p: f64) -> Option<Vec<Boundary>> {
    (p <= CHANCE).then(|| at.into_iter().map(|at| Boundary { at, p }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(values: &[f64]) -> Vec<usize> {
        split(&Sums::of(values)).iter().map(|boundary| boundary.at).collect()
    }

    #[test]
    fn constant_and_tiny_histories_have_no_change() {
        assert_eq!(at(&[5.0; 20]), [0; 0]);
        assert_eq!(at(&[1.0, 2.0, 3.0]), [0; 0]);
        assert_eq!(at(&[]), [0; 0]);
    }

    #[test]
    fn step_without_noise_has_p_of_zero() {
        let found = split(&Sums::of(&[5.0, 5.0, 5.0, 7.0, 7.0]));
        assert_eq!(found, [Boundary { at: 3, p: 0.0 }]);
    }

    #[test]
    fn a_level_that_rises_and_falls_half_way_back_is_split_in_three() {
        // Apache Otava, tests/series_test.py, test_div_by_zero: the first change is at 3.
        let leading_zeros = [0.0, 0.0, 0.0, 1.0, 1.12, 0.9, 0.5, 0.51, 0.48, 0.48, 0.55];
        assert_eq!(at(&leading_zeros), [3, 6]);
    }
}
