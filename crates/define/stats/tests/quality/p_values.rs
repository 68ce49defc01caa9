//! p-values of exact methods are uniform under the null.

use stats::testing::cases;
use stats::{Method, Prior, classify_difference};

use crate::world::{Cell, Shape, design, simulate, stream};

/// Kolmogorov distances of p-values from the uniform distribution.
struct Distances {
    /// Largest excess of their share below a value over the value: they are too small.
    too_small: f64,
    /// The same for too large p-values.
    too_large: f64,
}

impl Distances {
    /// Source: [Kolmogorov 1933].
    fn of(mut p_values: Vec<f64>) -> Self {
        p_values.sort_by(f64::total_cmp);
        let n = p_values.len() as f64;
        let most = |gap: fn(f64, f64, f64) -> f64| {
            let gaps = p_values.iter().enumerate().map(|(at, p)| gap(at as f64, *p, n));
            gaps.fold(0.0, f64::max)
        };
        Self {
            too_small: most(|at, p, n| (at + 1.0) / n - p),
            too_large: most(|at, p, n| p - at / n),
        }
    }
}

/// Goal: p-values are uniform under the null.
///
/// Method: lognormal runs; with a prior, cells whose variance is drawn from that prior. The limit
/// is Kolmogorov's at 1 %. Welch's method is approximate, but no simulation here shows it. Pairs
/// are widened for slow noise, so their p-values may only be too large.
#[test]
fn p_values_are_uniform_under_the_null() {
    let comparisons = cases(5_000, 20_000);
    println!("Distance of p-values from the uniform, {comparisons} comparisons a row");
    println!("| method | runs | distance | limit |");
    let limit = 1.63 / (comparisons as f64).sqrt();
    let known = Prior { variance: 1e-4, df: 10.0, cells: 40 };
    let plans = [
        (Method::Pooled, 2),
        (Method::Pooled, 3),
        (Method::Pooled, 4),
        (Method::Paired, 5),
        (Method::Paired, 8),
        (Method::History, 1),
        (Method::Moderated, 2),
        (Method::Moderated, 4),
        (Method::Welch, 12),
    ];
    for (method, runs) in plans {
        let has_prior = matches!(method, Method::History | Method::Moderated);
        let is_paired = method == Method::Paired;
        let p_values = simulate(comparisons, |seed| {
            let mut noise = stream(9, seed);
            let chi_square: f64 = (0..10).map(|_| noise.normal().powi(2)).sum();
            let drawn = (known.variance * known.df / chi_square).sqrt();
            let sigma = if has_prior { drawn } else { 0.01 };
            let cell = Cell { level: 1.0, sigma, shape: Shape::Plain };
            let (base, other) = cell.both(runs, 0.0, is_paired, &mut noise);
            let design = design(0.02, has_prior.then_some(&known), is_paired);
            classify_difference(&base, &other, &design).unwrap().p.unwrap()
        });
        let Distances { too_small, too_large } = Distances::of(p_values);
        let distance = too_small.max(too_large);
        println!("| {method:?} | {runs} | {distance:.4} | {limit:.4} |");
        let asserted = if is_paired { too_small } else { distance };
        assert!(asserted < limit, "{method:?} {runs}: {asserted}");
    }
}
