//! Fit of the law to a sweep: curve, coherency, peak.

use super::law::{Fit, NoFit, Observation, Peak, SIGNIFICANT};
use super::sweep::Sweep;

/// Fewest levels of a fit.
///
/// Our choice: three parameters leave three degrees of freedom.
pub const LEVELS_NEEDED: u32 = 6;

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
    let [one, alpha, beta] = best.coefficients;
    let pooled = sweep.pooled_noise(best.rss);
    let lack_of_fit = sweep.lack_of_fit(best.rss);
    let has_lack_of_fit = lack_of_fit.is_some_and(|p| p < SIGNIFICANT);
    let noise = if has_lack_of_fit { sweep.noise_of_levels(best.rss) } else { pooled };
    let mut fit = Fit {
        gamma: one.recip(),
        alpha: alpha / one,
        beta: beta / one,
        coherency_p: noise.p_of(sweep.amdahl().rss - best.rss),
        peak: Peak::NotMeasured,
        residual: pooled.variance.sqrt(),
        lack_of_fit,
        runs: sweep.runs,
        levels,
        most_clients: sweep.most_clients,
    };
    let peak = ((one - alpha).max(0.0) / beta).sqrt().max(1.0);
    if fit.has_coherency() && peak < f64::from(sweep.most_clients) {
        fit.peak = Peak::At(peak);
    }
    Ok(fit)
}
