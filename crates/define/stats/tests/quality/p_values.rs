//! p-values of exact methods are uniform under the null.

use stats::{Method, Prior, classify_difference};

use crate::world::{Cell, Shape, design, simulate, stream};

const CASES: u64 = 20_000;

/// Returns the Kolmogorov distance of p-values from the uniform distribution.
///
/// Source: [Kolmogorov 1933].
fn distance(mut p_values: Vec<f64>) -> f64 {
    p_values.sort_by(f64::total_cmp);
    let n = p_values.len() as f64;
    let gap = |(at, p): (usize, &f64)| {
        let (before, after) = (at as f64 / n, (at + 1) as f64 / n);
        (p - before).abs().max((after - p).abs())
    };
    p_values.iter().enumerate().map(gap).fold(0.0, f64::max)
}

/// Goal: p-values are uniform under the null.
///
/// Method: lognormal runs; with a prior, cells whose variance is drawn from that prior. The limit
/// is that of Kolmogorov's test at 1 %. Welch's method is only approximate: its distance is
/// printed.
#[test]
fn p_values_are_uniform_under_the_null() {
    println!("Distance of p-values from the uniform, {CASES} comparisons a row");
    println!("| method | runs | distance | limit |");
    let limit = 1.63 / (CASES as f64).sqrt();
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
        let p_values = simulate(CASES, |seed| {
            let mut noise = stream(9, seed);
            let chi_square: f64 = (0..10).map(|_| noise.normal().powi(2)).sum();
            let drawn = (known.variance * known.df / chi_square).sqrt();
            let sigma = if has_prior { drawn } else { 0.01 };
            let cell = Cell { level: 1.0, sigma, shape: Shape::Plain };
            let (base, other) = cell.both(runs, 0.0, is_paired, &mut noise);
            let design = design(0.02, has_prior.then_some(&known), is_paired);
            classify_difference(&base, &other, &design).unwrap().p.unwrap()
        });
        let distance = distance(p_values);
        println!("| {method:?} | {runs} | {distance:.4} | {limit:.4} |");
        let is_exact = !matches!(method, Method::Welch | Method::Paired);
        assert!(!is_exact || distance < limit, "{method:?} {runs}: {distance}");
    }
}
