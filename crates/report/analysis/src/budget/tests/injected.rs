//! Injected slowdowns are found by the campaigns that `plan` proposes.

#![expect(clippy::cast_possible_truncation, reason = "counts of a simulation are small")]
#![expect(clippy::cast_sign_loss, reason = "counts of a simulation are not negative")]

use model::{Experiment, Nanos, OpKind, RunRecord, StopRule, metric};
use stats::testing::{Noise, cases};
use stats::time_profile::{Second, Series, time_profile};
use stats::{Effect, Verdict};

use super::proposals::{budget, noise_of};
use crate::budget::{Design, StepNoise, noise};
use crate::compare;
use crate::noise::NoiseHistory;
use crate::testing::{experiment, run, summary};

/// Experiments a figure.
const CASES: u64 = 200;
/// Experiments with a pilot in a test alone: time profiles take the time. Their limit, 80 % power
/// less three standard errors, is then 67 %.
const SAMPLE: u64 = 80;
/// From run to run 1 %; from second to second 5 %, with a correlation of 0.9.
const BETWEEN: f64 = 0.01;
const SECONDS: f64 = 0.05;
const CORRELATION: f64 = 0.9;
/// What a run costs besides its measured span, in seconds.
const OVERHEAD_S: u64 = 600;
/// Repetitions of the pilot.
const PILOT_RUNS: u32 = 5;
/// Length of the step, in seconds.
const LENGTH_S: u64 = 300;

/// Returns an experiment of two variants with one step of [`LENGTH_S`].
fn two_variants(repetitions: u32) -> Experiment {
    let mut spec = experiment(&["a", "b"], repetitions);
    spec.steps[0].stop = StopRule::Duration(Nanos::from_secs(LENGTH_S));
    spec
}

/// Returns the operations of each second of a run.
fn rates(level: f64, noise: &mut Noise) -> Vec<f64> {
    let of_run = 1e4 * level * (BETWEEN * noise.normal()).exp();
    let scale = SECONDS * (1.0 - CORRELATION * CORRELATION).sqrt();
    let series = noise.autoregression(LENGTH_S as usize, CORRELATION);
    series.into_iter().map(|one| of_run * (1.0 + scale * one)).collect()
}

/// Returns the record of a run with these seconds.
fn record(variant: &str, repetition: u32, rates: &[f64]) -> RunRecord {
    let mut run = run(variant, repetition, 0);
    let only = &mut run.steps[0];
    only.duration_ns = Nanos::from_secs(rates.len() as u64);
    only.step.stop = StopRule::Duration(only.duration_ns);
    let done = rates.iter().sum::<f64>() as u64;
    only.clients.insert(OpKind::Get, summary(done, done));
    run
}

/// Returns the runs of a pilot with their time profiles.
fn pilot(noise: &mut Noise) -> Vec<RunRecord> {
    let mut runs = Vec::new();
    for variant in ["a", "b"] {
        for repetition in 1..=PILOT_RUNS {
            let rates = rates(1.0, noise);
            let mut series = Series::default();
            for (at, ops_per_s) in (0..).zip(&rates) {
                let (start_ns, length_ns) = (Nanos::from_secs(at), Nanos::SECOND);
                series.push(Second { start_ns, length_ns, ops_per_s: *ops_per_s }, []);
            }
            let mut run = record(variant, repetition, &rates);
            run.steps[0].time_profile = time_profile(&series, 0.02, true);
            runs.push(run);
        }
    }
    runs
}

/// Returns the design of `--half-width`, narrower by tenths of a per cent until the slowdown is
/// detectable at 80 % power.
fn proposed(slowdown: f64, known: &[StepNoise]) -> Design {
    let wanted = 1.0 / (1.0 - slowdown) - 1.0;
    let budget = budget(known, OVERHEAD_S);
    let widths =
        (1..=(slowdown * 1000.0).round() as u32).rev().map(|tenths| f64::from(tenths) / 1000.0);
    let mut designs = widths.filter_map(|half_width| budget.reach(half_width).ok());
    designs.find(|design| design.worst().unwrap().detectable <= wanted).unwrap()
}

/// Returns the effect that `compare` finds in the campaign; the other variant is slower.
fn compared(slowdown: f64, design: &Design, noise: &mut Noise) -> Effect {
    let mut runs = Vec::new();
    for (variant, level) in [("a", 1.0), ("b", 1.0 - slowdown)] {
        let of_variant = 1..=design.repetitions;
        runs.extend(of_variant.map(|nth| record(variant, nth, &rates(level, noise))));
    }
    let spec = two_variants(design.repetitions);
    let found = compare(&runs, &spec, "a", &NoiseHistory::default()).unwrap();
    found.steps[0].cells[1].metrics[metric::THROUGHPUT_OPS_PER_S.name].versus_base.unwrap()
}

/// Returns whether a slowdown is established: one below the margin is small, but real.
fn is_found(effect: &Effect) -> bool {
    let is_significant = matches!(effect.verdict, Verdict::Below | Verdict::SmallButReal);
    is_significant && effect.ratio < 1.0
}

/// Returns the share of `count` experiments that find the slowdown, each by its design.
fn found(
    slowdown: f64,
    (stream, count): (u64, u64),
    mut design: impl FnMut(&mut Noise) -> Design,
) -> f64 {
    let mut noise = Noise::new(stream);
    let finds = |_: &u64| {
        let design = design(&mut noise);
        is_found(&compared(slowdown, &design, &mut noise))
    };
    (0..count).filter(finds).count() as f64 / count as f64
}

/// Prints and asserts the power of the design from the true noise, and of that from a pilot.
fn check(slowdown: f64, stream: u64) {
    let within = (SECONDS * 100.0).powi(2) * (1.0 + CORRELATION) / (1.0 - CORRELATION);
    let by_truth =
        proposed(slowdown, &[noise_of(("readrandom", 0), LENGTH_S, BETWEEN * 100.0, within)]);
    let of_truth = found(slowdown, (stream, CASES), |_| by_truth.clone());
    let small = two_variants(PILOT_RUNS);
    let piloted = cases(SAMPLE, CASES);
    let of_pilot = found(slowdown, (stream + 10, piloted), |noise_of_runs| {
        let runs = pilot(noise_of_runs);
        proposed(slowdown, &noise(&small, &runs, &NoiseHistory::default()))
    });
    println!(
        "a slowdown of {:.0} %: {CASES} experiments; the design of the true noise, {} repetitions, \
         finds {:.1} %; that of a pilot, in {piloted}, {:.1} %",
        slowdown * 100.0,
        by_truth.repetitions,
        of_truth * 100.0,
        of_pilot * 100.0
    );
    for (share, count) in [(of_truth, CASES), (of_pilot, piloted)] {
        let error = (0.8 * 0.2 / count as f64).sqrt();
        assert!(share >= 0.80 - 3.0 * error, "{slowdown}: {share}");
    }
}

/// Goal: the design that `plan` proposes for a slowdown finds it at 80 % power.
///
/// Method: series with noise between runs and between seconds; a pilot, the design that
/// `--half-width` proposes from it, the campaign by that design, `compare`. For comparison, the
/// design from the true noise.
#[test]
fn a_slowdown_of_two_per_cent_is_found_by_the_design_proposed_for_it() {
    check(0.02, 1);
}

/// As above. Three repetitions are the fewest that are proposed.
#[test]
fn a_slowdown_of_five_per_cent_is_found_by_the_design_proposed_for_it() {
    check(0.05, 2);
}
