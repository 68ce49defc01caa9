//! 95 % intervals contain the truth in 95 of 100 cases.

use stats::testing::cases;
use stats::{Effect, classify_difference};

use crate::world::{Cell, SHAPES, Shape, Share, design, prior, sigma_near, simulate, stream};

/// Source of the variance estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Itself,
    Others,
    Blocks,
}

/// The effect found for a true difference of 2 %.
fn effect(seed: u64, shape: Shape, runs: usize, from: Source) -> Effect {
    let mut noise = stream(3, seed);
    let known = (from == Source::Others).then(|| prior(0.02, shape, &mut noise));
    let cell = Cell { level: 1.0, sigma: sigma_near(0.02, &mut noise), shape };
    let is_paired = from == Source::Blocks;
    let (base, other) = cell.both(runs, 0.02, is_paired, &mut noise);
    classify_difference(&base, &other, &design(0.02, known.as_ref(), is_paired)).unwrap()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Goal: intervals have their nominal coverage.
///
/// Method: run CoVs around 2 %, a true difference of 2 %. With few runs, some of them slow, an
/// interval covers more than nominal; that is asserted on the low side only.
#[test]
fn intervals_have_nominal_coverage() {
    let comparisons = cases(1_000, 4_000);
    println!("Coverage of 95 % intervals, {comparisons} comparisons a row");
    println!("| noise | runs | variance from | mean | half-width | ranks |");
    use Source::{Blocks, Itself, Others};
    let plans = [(1, Others), (2, Itself), (2, Others), (3, Itself), (3, Others), (5, Itself)];
    let more = [(5, Others), (5, Blocks), (8, Itself), (8, Others), (8, Blocks), (12, Itself)];
    for shape in SHAPES {
        for (runs, from) in plans.into_iter().chain(more) {
            let all = simulate(comparisons, |seed| effect(seed, shape, runs, from));
            let truth = 0.02_f64.exp();
            let holds = |low: f64, high: f64| low <= truth && truth <= high;
            let intervals: Vec<_> = all.iter().filter_map(|effect| effect.interval).collect();
            let cases: Vec<bool> = intervals.iter().map(|it| holds(it.low, it.high)).collect();
            let width = median(intervals.iter().map(|it| (it.high / it.low).ln() / 2.0).collect());
            let ranks: Vec<bool> = all
                .iter()
                .filter_map(|effect| effect.second_estimate)
                .map(|second_estimate| {
                    holds(second_estimate.interval.low, second_estimate.interval.high)
                })
                .collect();
            let covered = Share::of_true(&cases);
            let by_ranks = if ranks.is_empty() {
                "-".to_owned()
            } else {
                format!("{:.1} %", Share::of_true(&ranks).percent())
            };
            println!(
                "| {} | {runs} | {from:?} | {:.1} % | {:.1} % | {by_ranks} |",
                shape.name(),
                covered.percent(),
                width * 100.0
            );
            assert_eq!(cases.len(), all.len());
            assert!(covered.value >= 0.93, "{shape:?} {runs} {from:?}: {covered:?}");
            let most = if shape == Shape::Plain { 0.97 } else { 1.0 };
            assert!(covered.value <= most, "{shape:?} {runs} {from:?}: {covered:?}");
        }
    }
}
