//! The Universal Scalability Law: throughput as a function of the number of clients.
//!
//! X(N) = g N / (1 + a (N - 1) + b N (N - 1)): g is the throughput of one client, a (contention)
//! the share of the work that cannot be done in parallel, b (coherency) what each pair of clients
//! costs. With b = 0 it is Amdahl's law, with a = b = 0 a straight line. Noise is multiplicative,
//! so what is fitted is the logarithm of throughput, each run counting once.
//!
//! Intervals are those of the profile likelihood with unknown noise: the values at which the best
//! fit of all else leaves no more than s^2 F(0.95; 1, n - 3) of additional squares. An interval
//! that touches zero means that the data do not tell the parameter from zero. Noise is taken from
//! all runs, unless the levels lie further from the curve than runs of one level lie from each
//! other: then the law is only roughly right, and the levels' distances are the noise.
//!
//! Source: N. J. Gunther, 2007, "Guerrilla Capacity Planning", chapters 4-6; 2008, "A General
//! Theory of Computational Scalability Based on Rational Functions", arXiv 0808.1431. Intervals:
//! D. J. Venzon and S. H. Moolgavkar, 1988, "A Method for Computing Profile-Likelihood-Based
//! Confidence Intervals", Applied Statistics 37(1); D. M. Bates and D. G. Watts, 1988, "Nonlinear
//! Regression Analysis and Its Applications", chapter 6.

mod interval;
mod least_squares;
mod profile;
mod sweep;
#[cfg(test)]
mod tests;

use serde::Serialize;

use profile::Profiles;
use sweep::{Noise, Sweep};

/// Levels it takes to fit the law.
///
/// Source: the project's reference, analysis, section 5.4.
pub const LEVELS_NEEDED: u32 = 6;

/// How far beyond the most clients measured the curve is told, as a multiple of them.
///
/// Source: the project's reference, analysis, section 5.4.
pub const REACH: f64 = 1.5;

/// Chance to see such levels if the law were right, below which the law does not fit them.
///
/// Source: the customary 5 %, as the intervals are of 95 %.
const LEAST_CHANCE: f64 = 0.05;

/// Throughput of one run at one number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Observation {
    /// Clients, >= 1.
    pub clients: u32,
    /// Operations per second, > 0.
    pub ops_per_s: f64,
}

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The value of the best fit.
    pub value: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit; absent when the data set none.
    pub high: Option<f64>,
}

/// The law fitted to one sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// Throughput of one client, operations per second.
    pub gamma: Estimate,
    /// Contention, >= 0.
    pub alpha: Estimate,
    /// Coherency, >= 0.
    pub beta: Estimate,
    /// Where throughput is highest, if the data tell.
    pub peak: Peak,
    /// How the law compares with simpler ones.
    pub shapes: Shapes,
    /// Typical distance of a run from the curve, as a share.
    pub residual: f64,
    /// Chance to see levels this far from the curve if it were right; absent without repetitions.
    pub lack_of_fit: Option<f64>,
    /// Runs it was fitted to.
    pub runs: u32,
    /// Levels it was fitted to.
    pub levels: u32,
    /// Largest number of clients measured.
    pub most_clients: u32,
}

/// Where throughput has its peak.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Peak {
    /// At this number of clients.
    At(Estimate),
    /// No peak within the measured range: the interval of the coherency touches zero, or no level
    /// lies beyond the fitted peak.
    NotMeasured,
}

/// Which law describes the sweep with the fewest parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// a = b = 0.
    Linear,
    /// b = 0.
    Amdahl,
    /// The whole law.
    Universal,
}

/// Corrected Akaike information criterion of each law: less is better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shapes {
    /// Of a = b = 0.
    pub linear: f64,
    /// Of b = 0.
    pub amdahl: f64,
    /// Of the whole law.
    pub universal: f64,
    /// The law with the least.
    pub best: Shape,
}

/// Why there is no fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoFit {
    /// Too few numbers of clients were measured.
    TooFewLevels {
        /// Levels there are.
        levels: u32,
        /// Levels it takes.
        needed: u32,
    },
    /// One client was not measured.
    NoSingleClient,
}

/// Fits the law to the runs of a sweep.
///
/// A run that did nothing has no logarithm and is left out.
///
/// # Errors
/// When there are fewer than [`LEVELS_NEEDED`] levels, or none with one client.
///
/// Source: as this module. The criterion that compares the laws is C. M. Hurvich and C.-L. Tsai,
/// 1989, "Regression and Time Series Model Selection in Small Samples", Biometrika 76(2).
pub fn fit(observations: &[Observation]) -> Result<Fit, NoFit> {
    let sweep = Sweep::of(observations);
    let levels = u32::try_from(sweep.levels.len()).unwrap_or(u32::MAX);
    if levels < LEVELS_NEEDED {
        return Err(NoFit::TooFewLevels { levels, needed: LEVELS_NEEDED });
    }
    if !sweep.has_one_client() {
        return Err(NoFit::NoSingleClient);
    }
    let best = sweep.universal();
    let pooled = sweep.pooled_noise(best.rss);
    let lack_of_fit = sweep.lack_of_fit(best.rss);
    let is_rough = lack_of_fit.is_some_and(|chance| chance < LEAST_CHANCE);
    let noise = if is_rough { sweep.noise_of_levels(best.rss) } else { pooled };
    let profiles = Profiles::new(&sweep, &best, noise.limit());
    let (alpha, beta) = (profiles.alpha(), profiles.beta());
    Ok(Fit {
        gamma: profiles.gamma(),
        alpha,
        beta,
        peak: peak(&profiles, &beta, sweep.most_clients),
        shapes: shapes(&sweep, best.rss, &noise),
        residual: pooled.variance.sqrt(),
        lack_of_fit,
        runs: sweep.runs,
        levels,
        most_clients: sweep.most_clients,
    })
}

/// Returns the peak, if coherency is told from zero and a level lies beyond the peak.
fn peak(profiles: &Profiles<'_>, beta: &Estimate, most_clients: u32) -> Peak {
    if beta.low <= 0.0 {
        return Peak::NotMeasured;
    }
    let peak = profiles.peak();
    if peak.value < f64::from(most_clients) { Peak::At(peak) } else { Peak::NotMeasured }
}

fn shapes(sweep: &Sweep, universal: f64, noise: &Noise) -> Shapes {
    // Parameters of the curve, and the noise is one more.
    let linear = noise.criterion(sweep.linear().rss, 2.0);
    let amdahl = noise.criterion(sweep.amdahl().rss, 3.0);
    let universal = noise.criterion(universal, 4.0);
    // The simpler law wins a tie.
    let best = if linear <= amdahl && linear <= universal {
        Shape::Linear
    } else if amdahl <= universal {
        Shape::Amdahl
    } else {
        Shape::Universal
    };
    Shapes { linear, amdahl, universal, best }
}

impl Fit {
    /// Returns the curve's throughput at `clients`, operations per second.
    ///
    /// `None` below one client and beyond [`REACH`] times the most that were measured: the law is
    /// not to be trusted there.
    ///
    /// Source: the formula at the head of this module.
    #[must_use]
    pub fn ops_per_s(&self, clients: f64) -> Option<f64> {
        if !(1.0..=REACH * f64::from(self.most_clients)).contains(&clients) {
            return None;
        }
        let others = clients - 1.0;
        let slowed = 1.0 + self.alpha.value * others + self.beta.value * clients * others;
        Some(self.gamma.value * clients / slowed)
    }
}
