//! Steps a few points before the end, which are what a nightly check sees.

use std::fmt;

use stats::change::{STRICTNESS, Series, find};
use stats::testing::cases;

use crate::random::Random;

/// Points before the step: a short history, and two long ones.
const BEFORE: [usize; 3] = [18, 40, 200];
/// Standard deviation of the noise, as a share of the level.
const COV: f64 = 0.01;
/// Points after a step that is not recent.
const MANY: usize = 20;

/// What was found of one step in each of many series, as shares.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    /// Of the steps: found at the right place.
    right: f64,
    /// Of the series: with a second change.
    second: f64,
    /// Of the changes at the right place: with the true effect in the interval.
    covered: f64,
}

impl Found {
    /// Finds a step of 3 to 30 standard deviations between `before` and `points` values.
    fn of(before: usize, points: usize, series: u64) -> Self {
        let mut found = Self::default();
        for seed in 0..series {
            let mut random = Random::seeded(seed * 211 + 19);
            let size = 3.0 + 27.0 * random.unit();
            let size = if random.unit() < 0.5 { -size } else { size };
            let step = |at: usize| if at < before { 0.0 } else { size };
            let off = (0..before + points).map(|at| step(at) + random.normal());
            let changes = search(off.map(|off| (COV * off).exp())).changes;
            found.second += f64::from(u8::from(changes.len() > 1));
            let Some(own) = changes.iter().find(|change| change.index == before) else { continue };
            found.right += 1.0;
            let truth = (COV * size).exp_m1();
            let covers =
                own.low.zip(own.high).is_some_and(|(low, high)| low <= truth && truth <= high);
            found.covered += f64::from(u8::from(covers));
        }
        let (count, right) = (series as f64, found.right);
        Self { right: right / count, second: found.second / count, covered: found.covered / right }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.3} {:.3} {:.3}", self.right, self.second, self.covered)
    }
}

fn search(values: impl Iterator<Item = f64>) -> Series {
    find(&values.map(Some).collect::<Vec<_>>(), STRICTNESS)
}

/// Goal: two to ten points after a step show it as well as twenty. Method: the same noise and steps
/// with few and with many points after the step. Of 1,000 series, 97 % have a step that two points
/// show; the limits are wider by what a sample of them varies.
#[test]
fn recent_steps_are_found_in_place_and_alone() {
    let series = cases(300, 1_000);
    println!(
        "a step of 3 to 30 sd, points after it: found in place, second changes, interval right"
    );
    for before in BEFORE {
        let many = Found::of(before, MANY, series);
        let mut line = format!("{before:>5} points  {MANY}: {many}");
        for points in 2..=10 {
            let found = Found::of(before, points, series);
            line += &format!("  {points}: {found}");
            assert!(found.right >= many.right - 0.03, "{line}");
            assert!(found.second <= 0.05, "{line}");
            assert!((0.92..=0.98).contains(&found.covered), "{line}");
        }
        println!("{line}");
    }
}

fn values(parts: &[(f64, usize)]) -> impl Iterator<Item = f64> {
    parts.iter().flat_map(|(value, count)| std::iter::repeat_n(*value, *count))
}

#[test]
fn exact_steps_have_exact_effects() {
    for points in 2..=10 {
        let found = search(values(&[(100.0, 47), (80.0, points)]));
        assert_eq!((found.changes.len(), found.spikes.len()), (1, 0), "{points} points");
        let change = found.changes[0];
        assert_eq!((change.index, change.points), (47, points));
        for effect in [change.effect, change.low, change.high] {
            assert!(effect.is_some_and(|effect| (effect + 0.2).abs() < 1e-9), "{change:?}");
        }
    }
}

#[test]
fn a_spike_next_to_a_step_is_on_neither_side_of_it() {
    for (spike, at) in [(51.0, 40), (140.0, 40), (85.0, 39)] {
        for points in [2, 3, 5, 10, 30] {
            let found = search(values(&[(100.0, 39), (spike, 1), (80.0, points)]));
            let places: Vec<_> = found.changes.iter().map(|change| change.index).collect();
            assert_eq!(places, [at], "{spike}, then {points} points");
        }
    }
}
