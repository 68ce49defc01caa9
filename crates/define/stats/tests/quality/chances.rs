//! Promise: where the method is exact, the chance of a difference by chance is what it says.

use stats::{Method, Prior, classify_difference};

use crate::world::{Cell, Shape, design, simulate, stream};

const CASES: u64 = 20_000;

/// Returns the largest distance between the chances' distribution and the uniform one.
///
/// Source: A. N. Kolmogorov, 1933, "Sulla determinazione empirica di una legge di distribuzione".
fn distance(mut chances: Vec<f64>) -> f64 {
    chances.sort_by(f64::total_cmp);
    let n = chances.len() as f64;
    let gap = |(at, p): (usize, &f64)| {
        let (before, after) = (at as f64 / n, (at + 1) as f64 / n);
        (p - before).abs().max((after - p).abs())
    };
    chances.iter().enumerate().map(gap).fold(0.0, f64::max)
}

/// Goal: chances are uniform where nothing differs.
///
/// Method: lognormal runs; with other cells' noise, cells whose variance is drawn from the very
/// distribution the prior stands for. The limit is that of Kolmogorov's test at 1 %. Welch's method
/// is not exact, only near: its distance is printed.
#[test]
fn chances_are_uniform_where_nothing_differs() {
    println!("Distance of chances from the uniform, {CASES} comparisons a row");
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
        let chances = simulate(CASES, |seed| {
            let mut noise = stream(9, seed);
            let chi_square: f64 = (0..10).map(|_| noise.normal().powi(2)).sum();
            let drawn = (known.variance * known.df / chi_square).sqrt();
            let sigma = if has_prior { drawn } else { 0.01 };
            let cell = Cell { level: 1.0, sigma, shape: Shape::Plain };
            let (base, other) = cell.both(runs, 0.0, is_paired, &mut noise);
            let design = design(0.02, has_prior.then_some(&known), is_paired);
            classify_difference(&base, &other, &design).unwrap().p.unwrap()
        });
        let distance = distance(chances);
        println!("| {method:?} | {runs} | {distance:.4} | {limit:.4} |");
        let is_exact = method != Method::Welch;
        assert!(!is_exact || distance < limit, "{method:?} {runs}: {distance}");
    }
}
