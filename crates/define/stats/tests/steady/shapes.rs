//! Series of known shape under known noise.

use model::Nanos;
use stats::testing::Noise;
use stats::time_profile::{Second, Series};

/// The steady level, operations per second.
pub(crate) const LEVEL: f64 = 10_000.0;

/// Noise of a second, as a share of the level.
const SD: f64 = 0.04;
/// Correlation of a second's noise with that of the second before.
const R: f64 = 0.6;

/// Level of a series without its noise, relative to its steady one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Flat,
    /// Half as fast at first; within 2 % after this share of the length.
    WarmUp(f64),
    /// Twice as fast at first; within 2 % after this share of the length.
    SlowDown(f64),
    /// 70 % of the level up to this share of the length.
    Step(f64),
    /// Falls by 15 % over each period of so many seconds, and jumps back.
    Sawtooth(f64),
    /// Both: warm-up by share, and period.
    WarmUpAndSawtooth(f64, f64),
    /// Falls in a straight line, by this share in all.
    Ramp(f64),
    /// Falls by 20 % in the last fifth.
    Cliff,
}

impl Shape {
    /// Returns the level at `at` seconds of `length`.
    fn level(self, at: f64, length: f64) -> f64 {
        let saw = |period: f64| 1.0 + 0.15 * (0.5 - (at / period).fract());
        match self {
            Self::Flat => 1.0,
            Self::WarmUp(share) => 1.0 - 0.5 * decay(at, share * length, 0.5),
            Self::SlowDown(share) => 1.0 + decay(at, share * length, 1.0),
            Self::Step(share) if at < share * length => 0.7,
            Self::Step(_) => 1.0,
            Self::Sawtooth(period) => saw(period),
            Self::WarmUpAndSawtooth(share, period) => {
                saw(period) * (1.0 - 0.5 * decay(at, share * length, 0.5))
            }
            Self::Ramp(by) => 1.0 + by * at / length,
            Self::Cliff if at >= 0.8 * length => 0.8,
            Self::Cliff => 1.0,
        }
    }

    /// Returns a series of so many seconds.
    pub(crate) fn series(self, length: u32, seed: u64) -> Series {
        // Noise of variance 1 at each step wanders with a variance of 1 / (1 - r^2).
        let scale = SD * (1.0 - R * R).sqrt();
        let wobble = Noise::new(seed).autoregression(length as usize, R);
        let mut series = Series::default();
        for (at, wobble) in (0..length).zip(wobble) {
            let level = self.level(f64::from(at), f64::from(length));
            let second = Second {
                start_ns: Nanos::from_secs(u64::from(at)),
                length_ns: Nanos::SECOND,
                ops_per_s: LEVEL * level * (1.0 + scale * wobble),
            };
            series.push(second, []);
        }
        series
    }
}

/// Returns what is left at `at` of a transient of `size` that is 2 % of the level at `end`.
fn decay(at: f64, end: f64, size: f64) -> f64 {
    (-(size / 0.02).ln() * at / end).exp()
}
