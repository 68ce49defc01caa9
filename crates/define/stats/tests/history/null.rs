//! False changes: series in which nothing changed.

use stats::change::{STRICTNESS, Series, find};
use stats::testing::cases;

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

/// Returns the most false changes per series.
///
/// Short histories cannot separate steps from correlated noise.
fn most(noise: Noise, points: usize) -> f64 {
    match noise {
        Noise::Correlated(0.6) if points < 100 => 0.6,
        Noise::Correlated(_) if points < 100 => 0.15,
        Noise::White | Noise::Correlated(_) | Noise::Laplace | Noise::Spiked => 0.05,
    }
}

/// Goal: one series in twenty has a false change, at most. Method: series of every kind of noise
/// and of many lengths, from the same seeds. Correlated noise is bounded where it is short, and has
/// the same limit from 100 points on. A sample has fewer of the long series, in which half as many
/// false changes as the limit are found at most.
#[test]
fn at_most_one_null_series_in_twenty_has_a_false_change() {
    println!("false changes per series (drifts, changes of noise)");
    for points in [6, 10, 20, 24, 25, 30, 50, 100, 200, 1000] {
        let mut line = format!("{points:>5} points");
        for noise in ALL {
            let count = match points {
                ..100 => 1_000,
                100..1_000 => cases(250, 1_000),
                1_000.. => cases(25, 100),
            };
            let [changes, drifts, of_noise] = false_ones(noise, points, count);
            line += &format!("  {} {changes:.3} ({drifts:.3}, {of_noise:.3})", noise.name());
            let most = most(noise, points);
            assert!([changes, drifts, of_noise].iter().all(|share| *share <= most), "{line}");
        }
        println!("{line}");
    }
}

#[test]
fn tripled_noise_is_located() {
    for points in [200_usize, 500, 2_000] {
        let (mut found, mut others) = (0, 0);
        let count = if points > 500 { cases(20, 100) } else { 100 };
        for seed in 0..count {
            let mut random = Random::seeded(seed * 71 + 29);
            let mut off = Noise::White.series(points, &mut random);
            off[points / 2..].iter_mut().for_each(|value| *value *= 3.0);
            let series = search(&off);
            let is_near = |index: usize| index.abs_diff(points / 2) <= 15;
            let near = series.noise_changes.iter().filter(|one| is_near(one.index)).count();
            found += near.min(1) as u64;
            others += (series.noise_changes.len() - near.min(1) + series.changes.len()) as u64;
        }
        println!(
            "{points} points, three times the noise: {found} of {count} found, {others} others"
        );
        let is_located = 100 * found >= 85 * count && 100 * others <= 10 * count;
        assert!(is_located, "{points} points: {found} {others}");
    }
}
