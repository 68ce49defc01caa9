//! Random moments of campaigns.

use std::time::Duration;

use crate::sandbox::note;
use crate::scale::variable;

/// Variable of the seed, to repeat a campaign's random moments.
const SEED: &str = "ASSAY_SEED";

/// Random moments from a seed.
///
/// A linear congruential generator; its high bits are good enough here. Source: Knuth, The Art of
/// Computer Programming 2, section 3.3.4, the multiplier of MMIX.
pub(crate) struct Moments(u64);

impl Moments {
    /// Begins the moments of a campaign, each with a `salt` of its own, and prints their seed.
    pub(crate) fn new(salt: u64) -> Self {
        let seed = variable(SEED).map_or(1, |text| {
            text.parse().unwrap_or_else(|_| panic!("{SEED}={text} is no whole number"))
        });
        note(&format!("{SEED}={seed}"));
        Self(u64::wrapping_add(seed, salt << 32))
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % limit
    }

    /// Returns a moment before `limit`.
    pub(crate) fn within(&mut self, limit: Duration) -> Duration {
        let limit = u64::try_from(limit.as_micros()).expect("a few minutes");
        Duration::from_micros(self.below(limit.max(1)))
    }
}
