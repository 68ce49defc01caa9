//! Known laws are recovered by the fit, and their peaks.

use proptest::prelude::*;
use stats::testing::cases;

use super::*;

const LEVELS: [u32; 8] = [1, 2, 4, 8, 16, 24, 32, 64];

fn law(clients: u32, [gamma, alpha, beta]: [f64; 3]) -> f64 {
    let n = f64::from(clients);
    gamma * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0))
}

fn exact(levels: &[u32], parameters: [f64; 3]) -> Vec<Observation> {
    let one =
        |clients: &u32| Observation { clients: *clients, ops_per_s: law(*clients, parameters) };
    levels.iter().map(one).collect()
}

/// Normal noise from a seed: SplitMix64, and the polar form of Box and Muller.
struct Noisy(u64);

impl Noisy {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Returns the runs of a sweep: a law with a coefficient of variation of 2 %.
    fn sweep(&mut self, levels: &[u32], runs: u32, parameters: [f64; 3]) -> Vec<Observation> {
        let mut sweep = Vec::new();
        for one in exact(levels, parameters) {
            for _ in 0..runs {
                let ops_per_s = one.ops_per_s * (0.02 * self.normal()).exp();
                sweep.push(Observation { ops_per_s, ..one });
            }
        }
        sweep
    }
}

fn near(value: f64, expected: f64, relative: f64) -> bool {
    (value - expected).abs() <= relative * expected.abs()
}

/// Goal: where throughput falls within the measured range, the peak is claimed, near its place.
/// Method: sweeps of a known law with noise of 2 %, of several designs.
#[test]
fn peak_within_the_levels_is_claimed_near_its_place() {
    let designs: [(&[u32], u32, [f64; 3]); 3] = [
        (&LEVELS, 3, [10_000.0, 0.05, 0.001]),
        (&LEVELS[..6], 3, [250_000.0, 0.03, 0.004]),
        (&LEVELS, 1, [900.0, 0.08, 0.002]),
    ];
    let (mut noisy, sweeps) = (Noisy(7), cases(200, 400));
    for (levels, runs, truth) in designs {
        let peak = ((1.0 - truth[1]) / truth[2]).sqrt();
        let (mut claimed, mut is_near) = (0, 0);
        for _ in 0..sweeps {
            let fit = fit(&noisy.sweep(levels, runs, truth)).unwrap();
            if let Peak::At(found) = fit.peak {
                claimed += 1;
                is_near += u64::from(near(found, peak, 0.15));
            }
        }
        assert!(10 * claimed > 9 * sweeps, "{levels:?}: {claimed} peaks");
        assert!(20 * is_near > 19 * claimed, "{levels:?}: {is_near} of {claimed}");
    }
}

/// Goal: without coherency no peak is claimed, but for one sweep in twenty at most. Method: sweeps
/// of Amdahl's law and of a straight line, with noise.
#[test]
fn no_peak_is_claimed_where_there_is_none() {
    let (mut noisy, sweeps) = (Noisy(11), cases(200, 400));
    for truth in [[10_000.0, 0.05, 0.0], [10_000.0, 0.4, 0.0], [10_000.0, 0.0, 0.0]] {
        let (mut positive, mut claimed) = (0, 0);
        for _ in 0..sweeps {
            let fit = fit(&noisy.sweep(&LEVELS, 3, truth)).unwrap();
            positive += u64::from(fit.has_coherency());
            claimed += u64::from(matches!(fit.peak, Peak::At(_)));
        }
        assert!(20 * positive <= sweeps && claimed <= positive, "{positive}, {claimed}");
    }
}

#[test]
fn a_law_without_noise_is_found_exactly() {
    for truth in [
        [10_000.0, 0.05, 0.001],
        [3.5, 0.0, 0.02],
        [1e6, 1.2, 0.01],
        [1e6, 0.9, 0.0],
        [7.0, 0.0, 0.0],
    ] {
        let fit = fit(&exact(&LEVELS, truth)).unwrap();
        assert!(near(fit.gamma, truth[0], 1e-9), "{fit:?}");
        assert!((fit.alpha - truth[1]).abs() < 1e-9, "{fit:?}");
        assert!((fit.beta - truth[2]).abs() < 1e-9, "{fit:?}");
        assert!(near(fit.ops_per_s(12.0).unwrap(), law(12, truth), 1e-9));
        assert_eq!(matches!(fit.peak, Peak::At(_)), truth[2] > 0.0, "{fit:?}");
    }
}

/// The SPEC SDM91 benchmark on a Sun SPARCcenter 2000, one run at each load.
///
/// Source: [Gunther Moeding 2020]: the R package `usl` 3.0.4, data set `specsdm91`, and the
/// coefficients its `summary` prints.
const SDM91: [(u32, f64); 7] = [
    (1, 64.9),
    (18, 995.9),
    (36, 1_652.4),
    (72, 1_853.2),
    (108, 1_828.9),
    (144, 1_775.0),
    (216, 1_702.2),
];

/// Goal: agreement with the published fit, as far as the methods agree. The R package fits
/// throughput itself, so that its curve misses the single user by 39 % (90 for 64.9) to be within
/// 111 of the others; ours fits logarithms, to which 39 % is the largest error. Method: each is
/// better by its own measure; the peak is the same within 5 %; and our values are those of a plain
/// search of the same minimum, written apart from this code.
#[test]
fn the_published_example_is_fitted_as_far_as_the_methods_agree() {
    let observations = SDM91.map(|(clients, ops_per_s)| Observation { clients, ops_per_s });
    let fit = fit(&observations).unwrap();
    let ours = [fit.gamma, fit.alpha, fit.beta];
    let published = [89.995_233, 0.027_728_5, 0.000_104_4];
    let squares = |parameters: [f64; 3], error: fn(f64, f64) -> f64| {
        SDM91.iter().map(|(n, evidence)| error(law(*n, parameters), *evidence).powi(2)).sum::<f64>()
    };
    let of_values = |parameters| squares(parameters, |fitted, evidence| fitted - evidence);
    let of_logs = |parameters| squares(parameters, |fitted, evidence| (fitted / evidence).ln());
    assert!(of_values(published) < of_values(ours) && of_logs(ours) < of_logs(published));
    assert!(near(ours[0], 67.942_323, 1e-6), "{fit:?}");
    assert!(near(ours[1], 0.013_452_473, 1e-6), "{fit:?}");
    assert!(near(ours[2], 0.000_115_110_08, 1e-6), "{fit:?}");
    assert!(near(fit.coherency_p, 0.007_580_005_4, 1e-5), "{fit:?}");
    let Peak::At(peak) = fit.peak else { panic!("a peak was measured: {fit:?}") };
    let published_peak = ((1.0 - published[1]) / published[2]).sqrt();
    assert!(near(peak, published_peak, 0.05), "{peak:?}");
}

#[test]
fn peak_beyond_all_levels_is_not_claimed() {
    let truth = [10_000.0, 0.02, 0.000_1];
    let fit = fit(&exact(&LEVELS, truth)).unwrap();
    assert!(fit.has_coherency());
    assert_eq!(fit.peak, Peak::NotMeasured);
    assert!(fit.ops_per_s(96.0).is_some());
    assert_eq!((fit.ops_per_s(97.0), fit.ops_per_s(0.5)), (None, None));
}

/// Goal: coherency is less significant where the law is only approximate. Method: eight CPUs shared
/// without loss, a hard knee, runs that differ by 0.1 %; against the same runs around the fitted
/// law.
#[test]
fn levels_that_lie_off_the_law_are_its_noise() {
    let knee = |clients: u32| 1_000.0 * f64::from(clients.min(8));
    let with_runs = |curve: &dyn Fn(u32) -> f64| {
        let level = |clients: &u32| {
            let ops_per_s = curve(*clients);
            [0.999, 1.0, 1.001]
                .map(|share| Observation { clients: *clients, ops_per_s: ops_per_s * share })
        };
        fit(&LEVELS.iter().flat_map(level).collect::<Vec<_>>()).unwrap()
    };
    let rough = with_runs(&knee);
    let smooth = with_runs(&|clients| rough.ops_per_s(f64::from(clients)).unwrap());
    assert!(rough.lack_of_fit.unwrap() < 1e-6 && smooth.lack_of_fit.unwrap() > 0.5);
    assert!(rough.coherency_p > 1e6 * smooth.coherency_p, "{rough:?} {smooth:?}");
}

#[test]
fn too_few_levels_and_a_missing_single_client_are_refused() {
    let truth = [10.0, 0.1, 0.01];
    let refused = fit(&exact(&LEVELS[..5], truth)).unwrap_err();
    assert_eq!(refused, NoFit::TooFewLevels { levels: 5, needed: 6 });
    assert_eq!(fit(&exact(&LEVELS[1..], truth)).unwrap_err(), NoFit::NoSingleClient);
    // A run that did nothing is no level.
    let mut dead = exact(&LEVELS[..6], truth);
    dead[3].ops_per_s = 0.0;
    assert_eq!(fit(&dead).unwrap_err(), NoFit::TooFewLevels { levels: 5, needed: 6 });
    assert_eq!(fit(&[]).unwrap_err(), NoFit::TooFewLevels { levels: 0, needed: 6 });
}

proptest! {
    /// No point near the fit is better, in any sweep.
    #[test]
    fn the_fit_is_a_minimum(
        shares in prop::collection::vec(0.2..5.0_f64, 8),
        steps in prop::array::uniform3(-0.05..0.05_f64),
    ) {
        let sweep: Vec<Observation> = exact(&LEVELS, [1_000.0, 0.1, 0.002])
            .into_iter()
            .zip(shares)
            .map(|(one, share)| Observation { ops_per_s: one.ops_per_s * share, ..one })
            .collect();
        let fit = fit(&sweep).unwrap();
        let squares = |parameters: [f64; 3]| {
            let error = |one: &Observation| (law(one.clients, parameters) / one.ops_per_s).ln();
            sweep.iter().map(|one| error(one).powi(2)).sum::<f64>()
        };
        let best = [fit.gamma, fit.alpha, fit.beta];
        let moved = [
            best[0] * steps[0].exp(),
            (best[1] + steps[1] * 0.1).max(0.0),
            (best[2] + steps[2] * 0.001).max(0.0),
        ];
        prop_assert!(squares(best) <= squares(moved) * (1.0 + 1e-9), "{:?} {:?}", best, moved);
    }
}
