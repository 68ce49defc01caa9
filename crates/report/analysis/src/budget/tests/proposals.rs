//! Repetitions against closed forms, and simulated campaigns against their plans.

#![expect(clippy::cast_possible_truncation, reason = "counts of a simulation are small")]
#![expect(clippy::cast_sign_loss, reason = "counts of a simulation are not negative")]

use model::{Experiment, Nanos, RunRecord, StepClients, StopRule, metric};
use stats::distribution::student;
use stats::testing::Noise;
use stats::{Design as Rule, classify_difference};

use crate::budget::*;
use crate::noise::{NoiseCell, NoiseHistory};
use crate::testing::{experiment, run, step, time_profile};

const HOUR: Nanos = Nanos::from_secs(3600);

/// Returns the noise of a step of `length_s`; deviations in per cent.
pub(super) fn noise_of(
    (step, index): (&str, u32),
    length_s: u64,
    between_percent: f64,
    within_percent2: f64,
) -> StepNoise {
    StepNoise {
        index,
        step: step.to_owned(),
        clients: StepClients { level: 1, number: 1 },
        variant: "b".to_owned(),
        metric: metric::THROUGHPUT_OPS_PER_S.name,
        between: (between_percent / 100.0).powi(2),
        within: Some(within_percent2 / 1e4),
        prior_df: 0.0,
        origin: Origin::Pilot { runs: 5 },
        length: Some(Nanos::from_secs(length_s)),
        warmup_trim_s: 0.0,
    }
}

/// Returns the budget of two variants with `overhead_s` a run outside the measured spans.
pub(super) fn budget(noise: &[StepNoise], overhead_s: u64) -> Budget<'_> {
    let measured = noise.iter().filter_map(|one| one.length).map(|length| length.0).sum();
    let overhead = Nanos::from_secs(2 * overhead_s);
    Budget { noise, runs: 2, overhead, measured: Nanos(measured) }
}

/// Returns the half-width in per cent, to three digits.
fn percent(design: &Design) -> f64 {
    (design.worst().unwrap().half_width * 100_000.0).round() / 1000.0
}

/// Goal: half-widths match t quantiles of scipy 1.17.1 for sqrt(2 (s_b^2 + S / R) / n).
/// Method: known figures are unpaired; from five repetitions on the ratio of the quantiles is
/// applied.
#[test]
fn half_widths_match_the_closed_form() {
    let examples = [
        (600, 1.0, 3_u32, 3000, 2.44),
        (600, 1.0, 5, 1560, 1.67),
        (600, 1.0, 10, 480, 1.33),
        (1800, 0.5, 4, 900, 1.53),
        (1800, 2.0, 3, 12_600, 4.6),
        (1800, 2.0, 19, 473, 1.47),
    ];
    for (overhead_s, between, repetitions, length_s, known) in examples {
        let noise = [noise_of(("readrandom", 0), length_s, between, 475.0)];
        let time = Nanos::from_secs(u64::from(repetitions) * 2 * (overhead_s + length_s));
        let found = budget(&noise, overhead_s).propose(time).unwrap();
        let design = found.alternatives.iter().find(|one| one.repetitions == repetitions).unwrap();
        assert_eq!(design.cost, time);
        let runs = f64::from(repetitions);
        let unpaired = if repetitions < 5 {
            1.0
        } else {
            let t = |df: f64| student::half_width(0.95, df);
            t(2.0 * runs - 2.0) / t(runs - 1.0) / stats::paired::inflation(runs).sqrt()
        };
        let half_width = design.worst().unwrap().half_width.ln_1p() * 100.0 * unpaired;
        let digits = if known > 4.0 { 0.06 } else { 0.006 };
        assert!((half_width - known).abs() < digits, "{repetitions}: {half_width}");
    }
}

#[test]
fn common_designs_are_listed_with_the_best() {
    let noise = [noise_of(("readrandom", 0), 3000, 1.0, 475.0)];
    let time = Nanos(HOUR.0 * 22);
    let found = budget(&noise, 600).propose(time).unwrap();
    let repetitions: Vec<_> = found.alternatives.iter().map(|one| one.repetitions).collect();
    assert_eq!(repetitions, [2, 3, 5, 10, 11]);
    // 3 x 50 min: 2.44 % on logarithms.
    assert!((percent(&found.alternatives[1]) - 2.47).abs() < 1e-9);
    assert!(found.alternatives.iter().all(|design| design.cost <= time));
    let best = percent(&found.best) / 100.0;
    assert!(found.if_half < best && best < found.if_double);
}

#[test]
fn too_small_a_budget_is_rejected_with_the_least() {
    let noise = [noise_of(("readrandom", 0), 60, 1.0, 475.0)];
    let budget = budget(&noise, 600);
    // Three times two runs of 660 s.
    let least = Nanos::from_secs(3960);
    assert_eq!(budget.propose(Nanos::from_secs(3959)).unwrap_err().least, least);
    assert_eq!(budget.propose(least).unwrap().best.repetitions, 3);
}

#[test]
fn cheapest_design_reaches_the_half_width() {
    let noise = [noise_of(("quiet", 0), 300, 0.5, 100.0), noise_of(("noisy", 1), 300, 1.0, 475.0)];
    let budget = budget(&noise, 600);
    for wanted in [0.01, 0.02, 0.05] {
        let found = budget.reach(wanted).unwrap();
        assert!(found.worst().unwrap().half_width <= wanted);
        assert_eq!(found.worst().unwrap().noise, 1);
        assert!(found.repetitions > 3 || wanted > 0.01);
        if found.repetitions > 3 {
            let less = budget.propose(Nanos(found.cost.0 - 1)).unwrap().best;
            assert!(less.worst().unwrap().half_width > wanted, "{found:?} {less:?}");
        }
    }
    assert_eq!(budget.reach(0.000_1).map_err(|most| most.repetitions), Err(1000));
}

#[test]
fn warmup_trim_shortens_the_measured_length() {
    let whole = noise_of(("readrandom", 0), 60, 1.0, 475.0);
    let trimmed = StepNoise { warmup_trim_s: 30.0, ..noise_of(("readrandom", 0), 90, 1.0, 475.0) };
    assert!((whole.variance() - trimmed.variance()).abs() < 1e-15);
    let unknown = StepNoise { within: None, ..whole };
    assert!((unknown.variance() - 1e-4).abs() < 1e-15);
}

/// Run-to-run deviation of the simulated machine.
const BETWEEN: f64 = 0.015;
/// Long-run variance of its seconds.
const WITHIN: f64 = 0.0475;

/// Returns the logarithm of a simulated run's throughput.
fn simulated(random: &mut Noise, seconds: f64) -> f64 {
    (BETWEEN.powi(2) + WITHIN / seconds).sqrt() * random.normal()
}

/// Returns an experiment of `variants` with one step of a minute.
fn timed_experiment(variants: &[&str]) -> Experiment {
    let mut spec = experiment(variants, 3);
    spec.steps[0].stop = StopRule::Duration(Nanos::from_secs(60));
    spec
}

/// Returns a run of a minute whose throughput and seconds are simulated.
fn pilot_run(random: &mut Noise, variant: &str, repetition: u32) -> RunRecord {
    let ops = 1e7 * simulated(random, 60.0).exp();
    let mut run = run(variant, repetition, ops as u64);
    let only = &mut run.steps[0];
    only.duration_ns = Nanos::from_secs(60);
    only.step.stop = StopRule::Duration(only.duration_ns);
    only.time_profile = Some(time_profile(60, WITHIN * (0.1 * random.normal()).exp()));
    run
}

fn pilot(random: &mut Noise, variants: &[&str], repetitions: u32) -> Vec<RunRecord> {
    let mut runs = Vec::new();
    for variant in variants {
        runs.extend((1..=repetitions).map(|nth| pilot_run(random, variant, nth)));
    }
    runs
}

/// Returns the 95 % interval of a campaign's ratio on logarithms: its middle and half its width.
fn campaign(random: &mut Noise, repetitions: u32, seconds: f64) -> (f64, f64) {
    let mut sample =
        || -> Vec<f64> { (0..repetitions).map(|_| simulated(random, seconds).exp()).collect() };
    let rule = Rule { margin: 0.02, prior: None, is_paired: repetitions >= 5, assumed_cov: 0.0 };
    let (base, variant) = (sample(), sample());
    let found = classify_difference(&base, &variant, &rule).unwrap().interval.unwrap();
    let (low, high) = (found.low.ln(), found.high.ln());
    (f64::midpoint(low, high), (high - low) / 2.0)
}

/// Goal: a campaign by the proposed design is as precise as planned.
/// Method: 400 machines whose noise the planner does not know; each has a pilot, a proposal and
/// the proposed campaign, tested as `compare` does.
#[test]
fn campaigns_are_as_precise_as_planned() {
    let experiment = timed_experiment(&["a", "b"]);
    let rates = |pilot_runs: u32, seed: u64| {
        let mut random = Noise::new(seed);
        let (mut within, mut covered, mut off) = (0.0, 0.0, 0.0);
        for _ in 0..400 {
            let runs = pilot(&mut random, &["a", "b"], pilot_runs);
            let known = noise(&experiment, &runs, &NoiseHistory::default());
            let best = budget(&known, 120).propose(Nanos(HOUR.0 * 2)).unwrap().best;
            let planned = best.worst().unwrap().half_width.ln_1p();
            let (middle, half_width) = campaign(&mut random, best.repetitions, 60.0);
            within += f64::from(u8::from(half_width <= planned)) / 400.0;
            covered += f64::from(u8::from(middle.abs() <= half_width)) / 400.0;
            off += (half_width / planned).ln() / 400.0;
        }
        (within, covered, off.exp())
    };
    // A pilot of five: the plan is the middle of the outcomes.
    let (within, covered, off) = rates(5, 1);
    assert!((0.4..0.7).contains(&within) && (0.9..1.15).contains(&off), "{within} {off}");
    assert!((0.925..0.975).contains(&covered), "{covered}");
    // A pilot of two is taken at its upper bound: most campaigns are better than planned.
    let (within, covered, _) = rates(2, 2);
    assert!(within > 0.65, "{within}");
    assert!((0.925..0.975).contains(&covered), "{covered}");
}

/// Goal: two stages always reach the requested half-width, with nominal coverage at any noise.
#[test]
fn two_stages_reach_the_half_width_with_coverage() {
    let experiment = timed_experiment(&["a", "b"]);
    let mut random = Noise::new(3);
    let (mut covered, mut repetitions) = (0.0, 0.0);
    for _ in 0..2000 {
        let runs = pilot(&mut random, &["a", "b"], 3);
        let [only] = &piloted(&experiment, &runs)[..] else { panic!("one comparison") };
        let needed = only.repetitions(0.02);
        assert!(only.half_width(needed) <= 0.02 + 1e-12);
        assert!(needed == 3 || only.half_width(needed - 1) > 0.02);
        let log = |run: &RunRecord| {
            (run.steps[0].clients.values().next().unwrap().counts.done as f64).ln()
        };
        let mut sums = [0.0, 0.0];
        for run in &runs {
            sums[usize::from(run.cell.variant == "b")] += log(run);
        }
        for sum in &mut sums {
            *sum += (3..needed).map(|_| 1e7_f64.ln() + simulated(&mut random, 60.0)).sum::<f64>();
        }
        let shift = (sums[1] - sums[0]) / f64::from(needed);
        covered += f64::from(u8::from(shift.abs() <= only.half_width(needed).ln_1p())) / 2000.0;
        repetitions += f64::from(needed) / 2000.0;
    }
    // Standard deviation 0.0049: three of them.
    assert!((0.935..0.965).contains(&covered), "{covered}");
    // 2.776^2 x 2 x 0.0319^2 / 0.0198^2: forty, and what rounding up adds.
    assert!((36.0..45.0).contains(&repetitions), "{repetitions}");
}

#[test]
fn noise_is_from_the_pilot_the_history_other_steps_or_assumed() {
    let mut experiment = timed_experiment(&["a", "b"]);
    let noise_history = |name: &str| {
        let variance = stats::CellVariance { variance: 4e-4, df: 6.0 };
        let metrics = [(metric::THROUGHPUT_OPS_PER_S.name.to_owned(), variance)].into();
        NoiseHistory {
            experiments: vec![vec![NoiseCell { step: name.into(), seconds: 60.0, metrics }]],
        }
    };
    let of = |experiment: &Experiment, runs: &[RunRecord], noise_history: &NoiseHistory| {
        let [only] = &noise(experiment, runs, noise_history)[..] else { panic!("one comparison") };
        (only.origin, only.between.sqrt(), only.within.is_some())
    };
    let assumed = of(&experiment, &[], &NoiseHistory::default());
    assert_eq!(assumed, (Origin::Assumed, 0.025, false));
    let others = of(&experiment, &[], &noise_history("another"));
    assert_eq!(others, (Origin::OtherSteps { experiments: 1 }, 0.02, false));
    let earlier = of(&experiment, &[], &noise_history("readrandom"));
    assert_eq!(earlier, (Origin::NoiseHistory { experiments: 1 }, 0.02, false));
    let runs = pilot(&mut Noise::new(1), &["a", "b"], 5);
    let (origin, between, knows_seconds) = of(&experiment, &runs, &noise_history("readrandom"));
    assert_eq!((origin, knows_seconds), (Origin::Pilot { runs: 5 }, true));
    assert!((0.003..0.03).contains(&between), "{between}");
    experiment.workload = Some("iodir".to_owned());
    assert!((of(&experiment, &[], &NoiseHistory::default()).1 - 0.015).abs() < 1e-12);
}

#[test]
fn variant_without_runs_is_not_planned() {
    let experiment = timed_experiment(&["a", "b", "c"]);
    let runs = pilot(&mut Noise::new(1), &["a", "b"], 3);
    let compared: Vec<_> =
        piloted(&experiment, &runs).into_iter().map(|one| (one.variant, one.runs)).collect();
    assert_eq!(compared, [("b".to_owned(), 3)]);
}

#[test]
fn waiting_steps_have_no_noise() {
    let mut experiment = timed_experiment(&["a", "b"]);
    let mut settle = step(1, "settle").step;
    settle.stop = StopRule::Operations(0);
    experiment.steps.push(settle);
    experiment.clients = vec![1, 2];
    let known = noise(&experiment, &[], &NoiseHistory::default());
    let places: Vec<_> = known.iter().map(|one| (one.clients.level, one.step.as_str())).collect();
    assert_eq!(places, [(1, "readrandom"), (2, "readrandom")]);
}

#[test]
fn preparatory_steps_need_no_precision() {
    let mut experiment = timed_experiment(&["a", "b"]);
    let load = model::Step { name: "fillseq".to_owned(), ..experiment.steps[0].clone() };
    experiment.steps.insert(0, load);
    let names = |experiment: &Experiment| -> Vec<String> {
        let all = noise(experiment, &[], &NoiseHistory::default());
        all.into_iter().map(|one| one.step).collect()
    };
    assert_eq!(names(&experiment), ["readrandom"]);
    experiment.measure = vec!["fillseq".to_owned()];
    assert_eq!(names(&experiment), ["fillseq"]);
}
