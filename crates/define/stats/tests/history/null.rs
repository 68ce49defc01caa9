//! False changes: series in which nothing changed.

use stats::change::{STRICTNESS, Series, find};

use crate::noise::{ALL, Noise};
use crate::random::Random;

/// Returns what is found in a series about a level.
pub(crate) fn search(off: &[f64]) -> Series {
    let values: Vec<_> = off.iter().map(|off| Some(10_000.0 * (0.02 * off).exp())).collect();
    find(&values, STRICTNESS)
}

/// Returns the false changes, drifts and changes of noise for each of `count` series.
fn false_ones(noise: Noise, points: usize, count: u64) -> [f64; 3] {
    let mut sums = [0, 0, 0];
    for seed in 0..count {
        let mut random = Random::seeded(seed * 131 + 17);
        let found = search(&noise.series(points, &mut random));
        sums[0] += found.changes.len();
        sums[1] += found.drifts.len();
        sums[2] += found.noise_changes.len();
    }
    sums.map(|sum| sum as f64 / count as f64)
}

#[test]
fn at_most_one_null_series_in_twenty_has_a_false_change() {
    println!("false changes per series (drifts, changes of noise)");
    for points in [6, 10, 20, 24, 25, 30, 50, 100, 200, 1000] {
        let mut line = format!("{points:>5} points");
        for noise in ALL {
            let count = if points > 200 { 100 } else { 1_000 };
            let [changes, drifts, of_noise] = false_ones(noise, points, count);
            line += &format!("  {} {changes:.3} ({drifts:.3}, {of_noise:.3})", noise.name());
            if points == 200 {
                assert!(changes <= 0.05, "{}: {changes}", noise.name());
            }
        }
        println!("{line}");
    }
}

#[test]
fn tripled_noise_is_located() {
    for points in [200_usize, 500, 2_000] {
        let (mut found, mut others) = (0, 0);
        for seed in 0..100 {
            let mut random = Random::seeded(seed * 71 + 29);
            let mut off = Noise::White.series(points, &mut random);
            off[points / 2..].iter_mut().for_each(|value| *value *= 3.0);
            let series = search(&off);
            let is_near = |index: usize| index.abs_diff(points / 2) <= 15;
            let near = series.noise_changes.iter().filter(|one| is_near(one.index)).count();
            found += near.min(1);
            others += series.noise_changes.len() - near.min(1) + series.changes.len();
        }
        println!("{points} points, three times the noise: {found} of 100 found, {others} others");
        assert!(found >= 85 && others <= 10, "{points} points: {found} {others}");
    }
}
