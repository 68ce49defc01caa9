//! The detectable change of a history is found at 80 % power.

use stats::testing::cases;

use crate::noise::Noise;
use crate::null::search;
use crate::random::Random;

#[test]
fn detectable_change_is_found_at_the_claimed_power() {
    let each = cases(200, 400);
    println!("share of the detectable steps that were found");
    for points in [10, 20, 30, 50, 100, 200] {
        for noise in [Noise::White, Noise::Correlated(0.3)] {
            let (mut halfway, mut recent) = (0.0, 0.0);
            for seed in 0..each {
                let mut random = Random::seeded(seed * 53 + 11);
                let off = noise.series(points, &mut random);
                let Some(claimed) = search(&off).detectable else { panic!("{points} points") };
                let found = |at: usize, size: f64| {
                    // Values are 2 % for each unit of `off`.
                    let step = size.ln_1p() / 0.02;
                    let own = off.iter().enumerate();
                    let moved = own.map(|(point, off)| off + if point >= at { step } else { 0.0 });
                    let moved: Vec<f64> = moved.collect();
                    f64::from(u8::from(!search(&moved).changes.is_empty()))
                };
                halfway += found(points / 2, claimed.halfway) / each as f64;
                recent += found(points - 5.min(points / 2), claimed.recent) / each as f64;
            }
            println!(
                "{points:>5} points {:<8} {halfway:.2} half-way, {recent:.2} recent",
                noise.name()
            );
            if noise == Noise::White {
                assert!(halfway > 0.7 && recent > 0.65, "{points} points: {halfway} {recent}");
            }
        }
    }
}
