//! Fit of the law to a sweep: curve, intervals, peak.

use super::law::{Estimate, Fit, NoFit, Observation, Peak};
use super::profile::Profiles;
use super::sweep::Sweep;

/// Fewest levels of a fit.
///
/// Our choice: three parameters leave three degrees of freedom.
pub const LEVELS_NEEDED: u32 = 6;

/// p-value of the lack-of-fit test below which the law does not fit.
///
/// Our choice: 5 %, as the intervals are of 95 %.
const MIN_P: f64 = 0.05;

/// Fits the law to the runs of a sweep.
///
/// A run that did nothing has no logarithm and is left out.
///
/// # Errors
/// When there are fewer than [`LEVELS_NEEDED`] levels, or none with one client.
///
/// Source: as [`crate::usl`].
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
    let has_lack_of_fit = lack_of_fit.is_some_and(|p| p < MIN_P);
    let noise = if has_lack_of_fit { sweep.noise_of_levels(best.rss) } else { pooled };
    let profiles = Profiles::new(&sweep, &best, noise.limit());
    let (alpha, beta) = (profiles.alpha(), profiles.beta());
    Ok(Fit {
        gamma: best.coefficients[0].recip(),
        alpha,
        beta,
        peak: peak(&profiles, &beta, sweep.most_clients),
        residual: pooled.variance.sqrt(),
        lack_of_fit,
        runs: sweep.runs,
        levels,
        most_clients: sweep.most_clients,
    })
}

/// Returns the peak, if coherency is significant and a level lies beyond the peak.
fn peak(profiles: &Profiles<'_>, beta: &Estimate, most_clients: u32) -> Peak {
    if beta.low <= 0.0 {
        return Peak::NotMeasured;
    }
    let peak = profiles.peak();
    if peak.value < f64::from(most_clients) { Peak::At(peak) } else { Peak::NotMeasured }
}
