//! Promise: a slowdown is found by the design that planning proposes for it.

use stats::noise::Noise;
use stats::planning::{Candidate, Machine, Variances, best, between_runs, scan};
use stats::series::inflation;
use stats::{CellVariance, Effect, judge};

use crate::world::{Share, design, is_told, simulate, stream};

/// From run to run 1 %; from second to second 5 %, with a correlation of 0.9.
const BETWEEN: f64 = 0.01;
const SECONDS: f64 = 0.05;
const CORRELATION: f64 = 0.9;
/// Long-run variance of the seconds: the known one of an autoregression.
const TRUE: Variances = Variances {
    between: BETWEEN * BETWEEN,
    within: SECONDS * SECONDS * (1.0 + CORRELATION) / (1.0 - CORRELATION),
};

/// Returns the seconds of one run.
fn run(level: f64, seconds: usize, noise: &mut Noise) -> Vec<f64> {
    let of_run = level * (BETWEEN * noise.normal()).exp();
    let scale = SECONDS * (1.0 - CORRELATION * CORRELATION).sqrt();
    let series = noise.autoregression(seconds, CORRELATION);
    series.into_iter().map(|one| of_run * (1.0 + scale * one)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the cheapest design that detects a slowdown.
fn proposed(slowdown: f64, variances: &Variances) -> Candidate {
    let wanted = 1.0 / (1.0 - slowdown) - 1.0;
    let of_hours = |half_hours: u32| {
        let machine = Machine {
            budget_s: f64::from(half_hours) * 1800.0,
            overhead_s: 600.0,
            least_s: 60.0,
            prior_df: 0.0,
        };
        let found = *best(&scan(&machine, variances))?;
        (found.detectable <= wanted).then_some(found)
    };
    (1..2_000).find_map(of_hours).unwrap()
}

/// Runs both variants as proposed; the other one is slower.
fn compared(slowdown: f64, plan: Candidate, noise: &mut Noise) -> Effect {
    let mut runs = |level: f64| -> Vec<f64> {
        (0..plan.runs).map(|_| mean(&run(level, plan.seconds as usize, noise))).collect()
    };
    let (base, slow) = (runs(1.0), runs(1.0 - slowdown));
    judge(&base, &slow, &design(0.02, None, false)).unwrap()
}

/// Returns the variances that a pilot tells: five runs of both variants, five minutes each.
fn pilot(noise: &mut Noise) -> Variances {
    const RUNS: usize = 5;
    const LENGTH: usize = 300;
    let (mut cells, mut within) = (Vec::new(), 0.0);
    for _ in 0..2 {
        let runs: Vec<Vec<f64>> = (0..RUNS).map(|_| run(1.0, LENGTH, noise)).collect();
        let means: Vec<f64> = runs.iter().map(|run| mean(run)).collect();
        cells.push(CellVariance::of(&means).unwrap());
        let long_run = |run: &Vec<f64>| {
            let level = mean(run);
            let squares: Vec<f64> = run.iter().map(|one| (one / level - 1.0).powi(2)).collect();
            mean(&squares) * inflation(run)
        };
        within += runs.iter().map(long_run).sum::<f64>() / (2 * RUNS) as f64;
    }
    let known = cells[0].pooled(cells[1]);
    Variances { between: between_runs(known, within / LENGTH as f64), within }
}

/// Goal: what planning proposes for a slowdown finds it.
///
/// Method: series of seconds, with the noise of runs and of seconds; the design comes from the true
/// noise, and, beside it, from a pilot's, which is an estimate: that is printed, and asserted to
/// be near.
#[test]
fn slowdowns_are_found_by_the_design_proposed_for_them() {
    println!("Injected slowdowns found, 1,500 experiments a figure");
    println!("| slowdown | design | of the true noise | of a pilot's |");
    for slowdown in [0.02, 0.05] {
        let plan = proposed(slowdown, &TRUE);
        let found = simulate(1_500, |seed| {
            let effect = compared(slowdown, plan, &mut stream(7, seed));
            is_told(&effect) && effect.ratio < 1.0
        });
        let piloted = simulate(1_500, |seed| {
            let mut noise = stream(8, seed);
            let plan = proposed(slowdown, &pilot(&mut noise));
            let effect = compared(slowdown, plan, &mut noise);
            is_told(&effect) && effect.ratio < 1.0
        });
        let (found, piloted) = (Share::of_true(&found), Share::of_true(&piloted));
        println!(
            "| {:.0} % | {} runs of {:.0} s | {:.1} % | {:.1} % |",
            slowdown * 100.0,
            plan.runs,
            plan.seconds,
            found.percent(),
            piloted.percent()
        );
        assert!(found.value >= 0.80 - 3.0 * found.error, "{plan:?}: {found:?}");
        assert!(piloted.value >= 0.70, "{piloted:?}");
    }
}
