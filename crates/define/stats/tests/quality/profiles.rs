//! Functions that profiles list, with known truth.
//!
//! Samples of a run are Poisson at gamma rates, so that their variance exceeds their mean by a
//! given dispersion. One function is drawn by the seed and slowed by a share of the operation.

use stats::testing::{Noise, cases};
use stats::{RunCounts, ShareComparison, compare_shares};

/// Runs a side.
const RUNS: usize = 10;
/// Samples of a run, on average.
const SAMPLES: f64 = 2000.0;

/// A function of the simulated profile.
#[derive(Clone, Copy)]
struct Function {
    /// CPU per operation of the base, as a share of the base's operation.
    share: f64,
    /// Variance of its samples over the Poisson variance.
    dispersion: f64,
}

/// Returns 40 equal functions, of dispersions 2 to 5.
fn equal() -> Vec<Function> {
    let dispersion = |index: u32| 2.0 + 3.0 * f64::from(index) / 39.0;
    (0..40).map(|index| Function { share: 1.0 / 40.0, dispersion: dispersion(index) }).collect()
}

/// Returns the shares and dispersions of a read-only benchmark of RocksDB, roughly: few functions
/// of 10 to 20 %, a function of the kernel whose samples scatter widely, and many small functions.
fn uneven() -> Vec<Function> {
    let large = [(0.20, 5.0), (0.16, 4.0), (0.11, 4.0), (0.10, 3.0), (0.04, 30.0), (0.04, 2.0)];
    let middle = (0..10).map(|_| (0.02, 1.6));
    let small = (0..30).map(|_| (0.005, 1.3));
    let rest = (0..50).map(|_| (0.000_4, 1.0));
    let all = large.into_iter().chain(middle).chain(small).chain(rest);
    let sum: f64 = all.clone().map(|(share, _)| share).sum();
    all.map(|(share, dispersion)| Function { share: share / sum, dispersion }).collect()
}

/// Source: [Marsaglia Tsang 2000]; shape >= 1 by their method, otherwise by a power of a uniform.
fn gamma(shape: f64, noise: &mut Noise) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, noise) * noise.uniform().powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = noise.normal();
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && noise.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// Returns the number of events of a Poisson process in a time of that mean.
fn poisson(mean: f64, noise: &mut Noise) -> u64 {
    let (mut time, mut events) = (-noise.uniform().ln(), 0);
    while time < mean {
        time -= noise.uniform().ln();
        events += 1;
    }
    events
}

/// Returns one run's samples of each function; rates are CPU per operation.
fn run(rates: &[(f64, f64)], samples: f64, noise: &mut Noise) -> Vec<u64> {
    let total: f64 = rates.iter().map(|(rate, _)| rate).sum();
    let draw = |(rate, dispersion): &(f64, f64), noise: &mut Noise| {
        let mean = samples * rate / total;
        let excess = (dispersion - 1.0) / mean;
        let scatter = if excess > 0.0 { gamma(1.0 / excess, noise) * excess } else { 1.0 };
        poisson(mean * scatter, noise)
    };
    rates.iter().map(|rate| draw(rate, noise)).collect()
}

/// Returns the counts of a campaign in which the variant has these rates.
fn campaign(functions: &[Function], changed: &[f64], noise: &mut Noise) -> ShareComparison {
    let mut counts = vec![RunCounts::default(); functions.len()];
    let mut totals = RunCounts::default();
    for _ in 0..RUNS {
        for is_variant in [false, true] {
            let rate = |(function, changed): (&Function, &f64)| {
                (if is_variant { *changed } else { function.share }, function.dispersion)
            };
            let rates: Vec<(f64, f64)> = functions.iter().zip(changed).map(rate).collect();
            // Neighbours: the runs' operations, and so their samples, differ by 30 %.
            let samples = SAMPLES * (0.3 * noise.normal() - 0.045).exp();
            let found = run(&rates, samples, noise);
            let side = |counts: &mut RunCounts, count: u64| {
                counts.sides[usize::from(is_variant)].push(count);
            };
            side(&mut totals, found.iter().sum());
            counts.iter_mut().zip(found).for_each(|(counts, count)| side(counts, count));
        }
    }
    compare_shares(&counts, &totals).unwrap()
}

/// How often a campaign lists the slowed function, ranks it first, or lists another one.
#[derive(Debug, Default)]
struct Rates {
    first: f64,
    listed: f64,
    other: f64,
    covered: f64,
    /// Mean bias of the factor over its standard error.
    bias: f64,
}

/// Slows a function of at least 2 % by a share of the operation.
fn slowed(functions: &[Function], by: f64) -> Rates {
    let count = cases(200, 1000);
    let large: Vec<usize> = (0..functions.len()).filter(|i| functions[*i].share > 0.015).collect();
    let mut rates = Rates::default();
    let one = 1.0 / count as f64;
    for seed in 0..count {
        let mut noise = Noise::new(seed * 7919 + 3);
        let place = large[(noise.uniform() * large.len() as f64) as usize];
        let mut changed: Vec<f64> = functions.iter().map(|function| function.share).collect();
        changed[place] += by;
        let found = campaign(functions, &changed, &mut noise);
        let list = |i: &usize| found.categories[*i].adjusted_p.is_some_and(|p| p <= 0.05);
        let smallest = (0..functions.len())
            .min_by(|a, b| found.categories[*a].p.total_cmp(&found.categories[*b].p));
        rates.first += if smallest == Some(place) { one } else { 0.0 };
        rates.listed += if list(&place) { one } else { 0.0 };
        let is_other = (0..functions.len()).any(|i| i != place && list(&i));
        rates.other += if is_other { one } else { 0.0 };
        let own = found.categories[place];
        let half = found.half_width(own.error, 0.95);
        let is_covered = (own.difference - by / (1.0 + by)).abs() <= half;
        rates.covered += if is_covered { one } else { 0.0 };
        rates.bias += (found.common.factor * (1.0 + by)).ln() / found.common.log_error * one;
    }
    rates
}

#[test]
fn slowed_function_is_ranked_first() {
    for (name, functions) in [("equal", equal()), ("uneven", uneven())] {
        for by in [0.02, 0.05, 0.10] {
            let rates = slowed(&functions, by);
            println!("{name}, {:.0} %: {rates:.3?}", by * 100.0);
            let least = if by < 0.03 { 0.5 } else { 0.95 };
            assert!(rates.first >= least, "{name} {by}");
            assert!(rates.other <= 0.05 && rates.covered >= 0.9, "{name} {by}");
            assert!(rates.bias.abs() < 1.0, "{name} {by}");
        }
    }
}

#[test]
fn equal_sides_list_nothing_in_nineteen_of_twenty_campaigns() {
    for (name, functions) in [("equal", equal()), ("uneven", uneven())] {
        let rates = slowed(&functions, 0.0);
        println!("{name}, A/A: {rates:.3?}");
        assert!(rates.other.max(rates.listed) <= 0.05, "{name} {rates:?}");
    }
}
