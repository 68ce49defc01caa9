//! The detectable difference is found at 80 % power.

use stats::paired::inflation;
use stats::testing::cases;
use stats::{Effect, Prior, classify_difference, detectable};

use crate::world::{Cell, Shape, Share, design, is_significant, simulate, stream};

const CASES: u64 = 4_000;
const SIGMA: f64 = 0.01;

/// A design: the number of runs, the prior's degrees of freedom, and pairing.
#[derive(Debug, Clone, Copy)]
struct Plan {
    runs: usize,
    prior_df: f64,
    is_paired: bool,
}

impl Plan {
    /// Returns the effect found for a difference of logarithms, with a correct prior.
    fn effect(&self, by: f64, simulation: u64, seed: u64) -> Effect {
        let mut noise = stream(simulation, seed);
        let cell = Cell { level: 1.0, sigma: SIGMA, shape: Shape::Plain };
        let (base, other) = cell.both(self.runs, by, self.is_paired, &mut noise);
        let prior = Prior { variance: SIGMA * SIGMA, df: self.prior_df, cells: 40 };
        let prior = (self.prior_df > 0.0).then_some(&prior);
        classify_difference(&base, &other, &design(0.0, prior, self.is_paired)).unwrap()
    }

    /// Returns the detectable difference that the true noise makes.
    fn detectable(&self) -> f64 {
        let n = self.runs as f64;
        let (error, df) = if self.is_paired {
            // Of the variance of a run, half is its block's.
            (SIGMA * (inflation(n) / n).sqrt(), n - 1.0)
        } else {
            let prior_df = if self.runs > 10 { 0.0 } else { self.prior_df };
            (SIGMA * (2.0 / n).sqrt(), 2.0 * n - 2.0 + prior_df)
        };
        detectable::share(error, df)
    }
}

/// Goal: the detectable difference is found at 80 % power.
///
/// Method: a difference as large as the true noise makes detectable; and one as large as an earlier
/// experiment of the same design printed from its own estimate of the noise. A sample has fewer of
/// the second, which is larger on average and so further above the limit.
#[test]
fn detectable_difference_has_the_claimed_power() {
    println!("Power at the detectable difference, {CASES} comparisons a figure");
    println!("| runs | other cells' df | blocks | of the true noise | as printed before |");
    let plain = |runs: usize, prior_df: f64| Plan { runs, prior_df, is_paired: false };
    let mut plans = vec![plain(1, 15.0)];
    for runs in [2, 3, 4, 5, 6, 8, 10, 12, 20] {
        plans.push(plain(runs, 0.0));
        if runs <= 10 {
            plans.push(plain(runs, 15.0));
        }
    }
    plans.extend([5, 8, 12].map(|runs| Plan { runs, prior_df: 0.0, is_paired: true }));
    for plan in plans {
        let true_difference = plan.detectable().ln_1p();
        let found = simulate(CASES, |seed| is_significant(&plan.effect(true_difference, 4, seed)));
        let printed = simulate(cases(1_000, CASES), |seed| {
            let printed = plan.effect(0.0, 5, seed).detectable.ln_1p();
            is_significant(&plan.effect(printed, 6, seed))
        });
        let (found, printed) = (Share::of_true(&found), Share::of_true(&printed));
        println!(
            "| {} | {} | {} | {:.1} % | {:.1} % |",
            plan.runs,
            plan.prior_df,
            if plan.is_paired { "yes" } else { "no" },
            found.percent(),
            printed.percent()
        );
        assert!(found.value >= 0.80 - 3.0 * found.error, "{plan:?}: {found:?}");
        assert!(printed.value >= 0.80 - 3.0 * printed.error, "{plan:?}: {printed:?}");
    }
}
