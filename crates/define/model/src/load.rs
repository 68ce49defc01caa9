//! How operations arrive, and the limit their response times are held against.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::{Nanos, parse_span};

/// How a step's operations arrive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Each client sends its next operation when the last one has ended.
    #[default]
    Closed,
    /// Operations are due when a schedule says, whatever the engine does.
    Open(OpenLoad),
    /// Open loop: the highest rate that meets the step's limit and can be sustained is searched.
    FindRate(Pace),
    /// Closed loop: clients are added until the step's limit is broken or throughput stops growing.
    FindClients,
}

/// An open loop: one arrival process for all clients of the group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenLoad {
    /// Offered rate over time.
    pub rate: Rate,
    /// How arrivals are spread and waited for.
    #[serde(flatten)]
    pub pace: Pace,
}

/// How arrivals are spread within a rate, and how a client waits for one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// The arrival process.
    pub arrivals: Arrivals,
    /// How a free client waits.
    pub pacing: Pacing,
}

/// An arrival process of unit rate; a [`Rate`] stretches it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Independent arrivals: gaps are exponential.
    #[default]
    Poisson,
    /// Equal gaps; smoother than reality.
    Constant,
}

/// How a free client waits for an arrival.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// Chosen from the gap between arrivals and the free CPUs; a record holds what was chosen.
    #[default]
    Auto,
    /// It reads the clock until the arrival is due.
    Spin,
    /// It sleeps, and spins the last part of the wait.
    Hybrid,
}

/// Offered rate over time, operations per second over all clients of the group.
///
/// Time 0 is the start of the measured span; the warm-up is offered the rate of time 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Pieces in order, each linear; the last one's final rate holds from its end on. Never empty.
    Pieces(Vec<RatePiece>),
    /// `mean + amplitude * sin(2 pi t / period)`; 0 < amplitude < mean.
    Sine {
        /// Mean rate.
        mean_ops_per_s: f64,
        /// Largest distance from the mean.
        amplitude_ops_per_s: f64,
        /// Length of one wave.
        period: Nanos,
    },
}

/// A piece of a rate: from one rate to another in a straight line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatePiece {
    /// How long it lasts.
    pub length: Nanos,
    /// Rate at its start, operations per second, > 0.
    pub from_ops_per_s: f64,
    /// Rate at its end, operations per second, > 0.
    pub to_ops_per_s: f64,
}

impl Rate {
    /// Returns a rate that never changes.
    #[must_use]
    pub fn constant(ops_per_s: f64) -> Self {
        let piece =
            RatePiece { length: Nanos::SECOND, from_ops_per_s: ops_per_s, to_ops_per_s: ops_per_s };
        Self::Pieces(vec![piece])
    }

    /// Returns the highest rate there is.
    #[must_use]
    pub fn peak_ops_per_s(&self) -> f64 {
        match self {
            Self::Pieces(pieces) => pieces
                .iter()
                .fold(0.0, |peak, piece| piece.from_ops_per_s.max(piece.to_ops_per_s).max(peak)),
            Self::Sine { mean_ops_per_s, amplitude_ops_per_s, .. } => {
                mean_ops_per_s + amplitude_ops_per_s
            }
        }
    }

    /// Returns whether every part of it is a finite rate above zero, and none is missing.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let is_rate = |ops_per_s: f64| ops_per_s.is_finite() && ops_per_s > 0.0;
        match self {
            Self::Pieces(pieces) => {
                let is_sound = |piece: &RatePiece| {
                    piece.length > Nanos(0)
                        && is_rate(piece.from_ops_per_s)
                        && is_rate(piece.to_ops_per_s)
                };
                !pieces.is_empty() && pieces.iter().all(is_sound)
            }
            Self::Sine { mean_ops_per_s, amplitude_ops_per_s, period } => {
                is_rate(*mean_ops_per_s)
                    && (0.0..*mean_ops_per_s).contains(amplitude_ops_per_s)
                    && *period > Nanos(0)
            }
        }
    }
}

/// A response-time limit: a share of the operations must end within a time (`p99.9 < 2ms`).
///
/// A failed operation is late, however soon it failed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Share of the operations that must keep it, above 0 and below 1.
    pub share: f64,
    /// Longest response time that keeps it.
    pub within: Nanos,
}

impl Limit {
    /// Returns how many operations a window needs to tell whether the limit was kept.
    ///
    /// A hundred that may be late: 100 / (1 - share).
    ///
    /// Source: the project's reference, analysis, sections 5.1 and 5.3.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    #[expect(clippy::cast_sign_loss, reason = "a share is below 1")]
    pub fn operations_needed(&self) -> u64 {
        // Rounded first: 1 - 0.999 is a hair above 0.001.
        (100.0 / (1.0 - self.share) - 1e-6).ceil() as u64
    }

    /// Parses `p99.9 < 2ms`.
    ///
    /// # Errors
    /// Says what is missing or out of range, with an example.
    pub fn parse(text: &str) -> Result<Self, String> {
        let example = "write a percentile and a time, such as \"p99.9 < 2ms\"";
        let Some((percentile, within)) = text.split_once('<') else {
            return Err(format!("`{text}` is not a limit: {example}"));
        };
        let percentile = percentile.trim();
        let number = percentile.strip_prefix('p').and_then(|number| number.parse::<f64>().ok());
        let Some(number) = number.filter(|number| (0.0..100.0).contains(number) && *number > 0.0)
        else {
            return Err(format!("`{percentile}` is not a percentile below p100: {example}"));
        };
        let within = within.trim();
        if within.chars().all(|c| c.is_ascii_digit() || c == '.') && !within.is_empty() {
            return Err(format!("`{within}` has no unit of time: write {within}ms or {within}us"));
        }
        let within = parse_span(within)?;
        if within == Nanos(0) {
            return Err("no operation takes zero time: the limit must be above zero".to_owned());
        }
        Ok(Self { share: number / 100.0, within })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Six digits: p99.9999 is as far as anybody goes, and 0.999 * 100 is not 99.9.
        let percentile = (self.share * 1e8).round() / 1e6;
        write!(f, "p{percentile} < {}", self.within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_read_and_written_alike() {
        let limit = Limit::parse("p99.9 < 2ms").unwrap();
        assert!((limit.share - 0.999).abs() < 1e-12);
        assert_eq!(limit.within, Nanos::from_millis(2));
        assert_eq!(limit.to_string(), "p99.9 < 2.00 ms");
        assert_eq!(limit.operations_needed(), 100_000);
        assert_eq!(Limit::parse("p50<1s").unwrap().operations_needed(), 200);
    }

    #[test]
    fn a_wrong_limit_is_refused_with_what_is_missing() {
        let refused = |text: &str| Limit::parse(text).unwrap_err();
        assert!(refused("p99 < 2").contains("2ms"), "{}", refused("p99 < 2"));
        assert!(refused("99 < 2ms").contains("not a percentile"));
        assert!(refused("p100 < 2ms").contains("below p100"));
        assert!(refused("p99").contains("p99.9 < 2ms"));
        assert!(refused("p99 < 0ms").contains("above zero"));
    }

    #[test]
    fn a_rate_must_stay_above_zero() {
        assert!(Rate::constant(5.0).is_sound() && !Rate::constant(0.0).is_sound());
        assert!(!Rate::Pieces(Vec::new()).is_sound());
        let sine = |amplitude_ops_per_s| Rate::Sine {
            mean_ops_per_s: 10.0,
            amplitude_ops_per_s,
            period: Nanos::SECOND,
        };
        assert!(sine(9.0).is_sound() && !sine(10.0).is_sound());
        assert!((sine(9.0).peak_ops_per_s() - 19.0).abs() < 1e-12);
    }
}
