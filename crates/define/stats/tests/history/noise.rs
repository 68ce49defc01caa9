//! Kinds of noise, each of standard deviation 1.

use crate::random::Random;

/// A kind of noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Noise {
    /// Independent and normal.
    White,
    /// Normal, each value correlated with the one before.
    Correlated(f64),
    /// Independent, with heavier tails.
    Laplace,
    /// White, and one value in fifty lies 8 standard deviations off.
    Spiked,
}

/// Every kind that false changes are counted in.
pub(crate) const ALL: [Noise; 5] =
    [Noise::White, Noise::Correlated(0.3), Noise::Correlated(0.6), Noise::Laplace, Noise::Spiked];

impl Noise {
    pub(crate) fn name(self) -> String {
        match self {
            Self::White => "white".to_owned(),
            Self::Correlated(by) => format!("AR({by})"),
            Self::Laplace => "Laplace".to_owned(),
            Self::Spiked => "2 % spikes".to_owned(),
        }
    }

    /// Returns `count` values.
    pub(crate) fn series(self, count: usize, random: &mut Random) -> Vec<f64> {
        let mut last = random.normal();
        let mut value = || match self {
            Self::White => random.normal(),
            Self::Correlated(by) => {
                last = by * last + (1.0 - by * by).sqrt() * random.normal();
                last
            }
            Self::Laplace => {
                let side = if random.unit() < 0.5 { -1.0 } else { 1.0 };
                -side * random.unit().ln() / std::f64::consts::SQRT_2
            }
            Self::Spiked => {
                let is_spike = random.unit() < 0.02;
                let side = if random.unit() < 0.5 { -8.0 } else { 8.0 };
                random.normal() + if is_spike { side } else { 0.0 }
            }
        };
        (0..count).map(|_| value()).collect()
    }
}
