//! Slow ramps are drifts, not staircases, however steep and long.

use stats::testing::cases;

use crate::noise::Noise;
use crate::null::search;
use crate::random::Random;

/// Series of each case.
const EACH: u64 = 50;

#[test]
fn a_slow_ramp_is_one_drift_and_no_staircase() {
    println!("ramps over all points: share found as drift, changes per series");
    for points in [12, 24, 40, 100, 200, 1_000] {
        // All ramps of 1,000 points are found, and none has a change: ten show a loss of a fifth
        // in nine cases of ten.
        let each = if points > 200 { cases(10, EACH) } else { EACH };
        let mut line = format!("{points:>5} points");
        for rise in [4.0, 10.0, 30.0] {
            for noise in [Noise::White, Noise::Correlated(0.3)] {
                let (mut drifts, mut changes) = (0, 0);
                for seed in 0..each {
                    let mut random = Random::seeded(seed * 977 + 5);
                    let mut off = noise.series(points, &mut random);
                    for (point, value) in off.iter_mut().enumerate() {
                        *value += rise * point as f64 / (points - 1) as f64;
                    }
                    let found = search(&off);
                    drifts += u64::from(!found.drifts.is_empty());
                    changes += found.changes.len();
                }
                let (found, steps) = (drifts as f64 / each as f64, changes as f64 / each as f64);
                line += &format!("  {rise} sd {} {found:.2} {steps:.2}", noise.name());
                if points >= 40 && rise >= 10.0 {
                    let most = if noise == Noise::White { 0.1 } else { 0.25 };
                    assert!(found > 0.9 && steps <= most, "{line}");
                }
            }
        }
        println!("{line}");
    }
}

#[test]
fn step_on_a_ramp_is_found() {
    let (mut hits, mut others) = (0, 0);
    for seed in 0..EACH {
        let mut random = Random::seeded(seed * 31 + 3);
        let mut off = Noise::White.series(200, &mut random);
        for (point, value) in off.iter_mut().enumerate() {
            *value += 10.0 * point as f64 / 199.0 + if point >= 120 { -5.0 } else { 0.0 };
        }
        for change in search(&off).changes {
            if change.index.abs_diff(120) <= 5 { hits += 1 } else { others += 1 }
        }
    }
    println!("a step of 5 sd against a ramp of 10 sd: {hits} of {EACH} found, {others} others");
    assert!(hits >= 45 && others <= 10, "{hits} {others}");
}
