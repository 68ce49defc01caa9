//! A sample of the pairs of two lists of cases.

use std::fmt;

use crate::scale::cases;

/// A sample of pairs, such as commands and environments: one pair of `one_in`.
///
/// Every case of two lists that are as long is in it, each with other partners. A long campaign
/// tries all pairs.
pub(crate) struct Sample {
    one_in: u64,
    /// Number of pairs that are tried.
    pub(crate) tried: usize,
    all: usize,
}

impl Sample {
    /// Begins a sample of one pair of `one_in`.
    pub(crate) fn new(one_in: u64) -> Self {
        Self { one_in: cases(one_in, 1), tried: 0, all: 0 }
    }

    /// Returns the cases of a list that are tried with the case at this place of the other list.
    pub(crate) fn partners<'a, T>(&mut self, place: usize, cases: &'a [T]) -> Vec<&'a T> {
        let is_tried = |at: usize| ((place + at) as u64).is_multiple_of(self.one_in);
        let partners: Vec<_> = cases
            .iter()
            .enumerate()
            .filter(|(at, _)| is_tried(*at))
            .map(|(_, case)| case)
            .collect();
        self.tried += partners.len();
        self.all += cases.len();
        partners
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.tried, self.all)
    }
}

#[test]
fn every_case_of_two_lists_is_in_a_sample() {
    let (mut sample, cases) = (Sample::new(3), [0, 1, 2, 3]);
    let partners: Vec<_> = (0..5).map(|place| sample.partners(place, &cases)).collect();
    assert!(partners.iter().all(|partners| !partners.is_empty()), "{partners:?}");
    assert!(cases.iter().all(|case| partners.concat().contains(&case)), "{partners:?}");
}
