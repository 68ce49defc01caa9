//! Arrival of operations, and response-time limits.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::{RATE_MAX_OPS_PER_S, RATES_MAX};
use crate::names::names;
use crate::number::whole;
use crate::units::{Nanos, parse_span, per_second};

/// Share of a rate below which the rate is not sustained.
///
/// Our choice: 1 % is above the pacing error of a client and the operations in flight at an end.
/// With more unserved, even the p99 of the response time is only a lower bound.
pub const SERVED_SHARE: f64 = 0.99;

/// How a step's operations arrive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Each client sends its next operation when the last one ended.
    #[default]
    Closed,
    /// Each client keeps up to that many operations in flight: it sends the next before the
    /// last is answered, to a server that answers them in order. From 2 to [`PIPELINE_MAX`].
    Pipelined(u32),
    /// Operations are due at scheduled times, independent of the engine.
    Open(OpenLoad),
    /// Open loop: the highest rate that meets the step's limit and can be sustained is searched.
    FindRate(Pace),
    /// Closed loop: clients are added until the step's limit is broken or throughput stops growing.
    FindClients,
}

impl Load {
    /// Returns whether the load is searched.
    pub const fn is_search(&self) -> bool {
        matches!(self, Self::FindRate(_) | Self::FindClients)
    }
}

/// Most operations that one client of a pipeline has in flight.
///
/// Beyond it a server's socket buffer is full, and answers wait there instead of in the server.
pub const PIPELINE_MAX: u32 = 1024;

/// An open loop: one arrival process for all clients of the group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenLoad {
    /// Offered rate over time.
    pub rate: Rate,
    /// How arrivals are spread and waited for.
    #[serde(flatten)]
    pub pace: Pace,
}

/// The arrival process and how a client waits for an arrival.
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
    /// Chosen from the gap between arrivals and the free CPUs; a record holds the choice.
    #[default]
    Auto,
    /// It reads the clock until the arrival is due.
    Spin,
    /// It sleeps, and spins the last part of the wait.
    Hybrid,
}

names!(Arrivals, "an arrival process": Poisson "poisson", Constant "constant");

names!(Pacing, "a way to wait": Auto "auto", Spin "spin", Hybrid "hybrid");

impl fmt::Display for Pace {
    /// Writes the arrivals, and the pacing unless automatic.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pacing {
            Pacing::Auto => write!(f, "{}", self.arrivals),
            Pacing::Spin | Pacing::Hybrid => write!(f, "{}, {}", self.arrivals, self.pacing),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed loop"),
            Self::Pipelined(depth) => write!(f, "closed loop, {depth} in flight per client"),
            Self::Open(open) => write!(f, "open loop, {}, {}", open.rate, open.pace),
            Self::FindRate(pace) => write!(f, "highest rate, {pace}"),
            Self::FindClients => f.write_str("adaptive clients"),
        }
    }
}

/// Offered rate over time, in operations per second over all clients.
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

/// Most steps of a rate that are written out one by one.
const STEPS_WRITTEN: usize = 6;

/// A linear piece of a rate.
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
    pub fn constant(ops_per_s: f64) -> Self {
        let piece =
            RatePiece { length: Nanos::SECOND, from_ops_per_s: ops_per_s, to_ops_per_s: ops_per_s };
        Self::Pieces(vec![piece])
    }

    /// Returns the highest rate.
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

    /// Returns the expected number of arrivals in the first `span` measured.
    pub fn arrivals_within(&self, span: Nanos) -> f64 {
        let mut left = span.as_secs_f64();
        let pieces = match self {
            Self::Pieces(pieces) => pieces,
            Self::Sine { mean_ops_per_s, amplitude_ops_per_s, period } => {
                let radians_per_s = std::f64::consts::TAU / period.as_secs_f64();
                let wave = (1.0 - (radians_per_s * left).cos()) / radians_per_s;
                return mean_ops_per_s * left + amplitude_ops_per_s * wave;
            }
        };
        let mut arrivals = 0.0;
        let mut last_ops_per_s = 0.0;
        for piece in pieces {
            let length = piece.length.as_secs_f64();
            let part = left.min(length);
            let slope = (piece.to_ops_per_s - piece.from_ops_per_s) / length;
            arrivals += part * (piece.from_ops_per_s + slope * part / 2.0);
            left -= part;
            last_ops_per_s = piece.to_ops_per_s;
        }
        arrivals + left * last_ops_per_s
    }

    /// Returns when the rate stops changing, or its period; 0 when constant.
    pub fn changes_for(&self) -> Nanos {
        match self {
            Self::Sine { period, .. } => *period,
            Self::Pieces(pieces) => {
                let last_change = pieces.iter().rposition(|piece| !piece.is_flat());
                let changing = last_change
                    .map_or(pieces.len().saturating_sub(1), |at| (at + 1).max(pieces.len() - 1));
                let spans = pieces.iter().take(changing).map(|piece| piece.length.0);
                Nanos(spans.fold(0, u64::saturating_add))
            }
        }
    }

    /// Returns whether it has parts, no more than a step may, each a rate above zero for a time.
    pub fn is_sound(&self) -> bool {
        let is_rate = |ops_per_s: f64| ops_per_s > 0.0 && ops_per_s <= RATE_MAX_OPS_PER_S;
        match self {
            Self::Pieces(pieces) => {
                let is_sound = |piece: &RatePiece| {
                    piece.length > Nanos(0)
                        && is_rate(piece.from_ops_per_s)
                        && is_rate(piece.to_ops_per_s)
                };
                (1..=RATES_MAX).contains(&pieces.len()) && pieces.iter().all(is_sound)
            }
            Self::Sine { mean_ops_per_s, amplitude_ops_per_s, period } => {
                is_rate(*mean_ops_per_s)
                    && (0.0..*mean_ops_per_s).contains(amplitude_ops_per_s)
                    && *period > Nanos(0)
            }
        }
    }
}

impl RatePiece {
    /// Returns whether the rate is constant.
    pub fn is_flat(&self) -> bool {
        self.from_ops_per_s.to_bits() == self.to_ops_per_s.to_bits()
    }
}

impl fmt::Display for Rate {
    /// Writes it in the syntax of experiment files; a long list in one phrase.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = match self {
            Self::Pieces(pieces) => pieces.as_slice(),
            Self::Sine { mean_ops_per_s, amplitude_ops_per_s, period } => {
                let (mean, amplitude) = (per_second(*mean_ops_per_s), *amplitude_ops_per_s);
                return write!(f, "sine {mean} +-{} every {period}", per_second(amplitude));
            }
        };
        let is_flat = pieces.iter().all(RatePiece::is_flat);
        let is_even = pieces.windows(2).all(|pair| pair[0].length == pair[1].length);
        match pieces {
            [only] if is_flat => f.write_str(&per_second(only.from_ops_per_s)),
            [only] => {
                let (from, to) = (per_second(only.from_ops_per_s), per_second(only.to_ops_per_s));
                write!(f, "ramp {from}..{to} over {}", only.length)
            }
            [first, ..] if is_flat && is_even && pieces.len() <= STEPS_WRITTEN => {
                f.write_str("steps")?;
                for piece in pieces {
                    write!(f, " {}", per_second(piece.from_ops_per_s))?;
                }
                write!(f, " every {}", first.length)
            }
            _ => {
                let lowest = pieces.iter().fold(f64::INFINITY, |lowest, piece| {
                    lowest.min(piece.from_ops_per_s).min(piece.to_ops_per_s)
                });
                let (lowest, highest) = (per_second(lowest), per_second(self.peak_ops_per_s()));
                write!(f, "{lowest} to {highest} in {} pieces", pieces.len())
            }
        }
    }
}

/// A response-time limit (SLA), such as `p99.9 < 2ms`.
///
/// A share of the operations must end within a time; a failed operation counts as late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Share of the operations that must meet it, above 0, below 1.
    pub share: f64,
    /// Longest response time that meets it.
    pub within: Nanos,
}

impl Limit {
    /// Returns the operations that a window needs to test the limit.
    ///
    /// 100 / (1 - share): our choice, since a count of 100 expected late operations has a relative
    /// standard error of 10 %.
    pub fn operations_needed(&self) -> u64 {
        // Rounded first: 1 - 0.999 is a hair above 0.001.
        whole((100.0 / (1.0 - self.share) - 1e-6).ceil())
    }

    /// Returns the share as a percentile: `p99.9`.
    pub fn percentile(&self) -> String {
        // Six digits: p99.9999 is precise enough, and 0.999 * 100 is not 99.9.
        format!("p{}", (self.share * 1e8).round() / 1e6)
    }

    /// Parses `p99.9 < 2ms`.
    ///
    /// # Errors
    /// Names what is missing or out of range, with an example.
    pub fn parse(text: &str) -> Result<Self, String> {
        let example = "write a percentile and a time, such as \"p99.9 < 2ms\"";
        let Some((percentile, within)) = text.split_once('<') else {
            return Err(format!("`{text}` is not a limit: {example}"));
        };
        let percentile = percentile.trim();
        let digits = percentile.strip_prefix('p').unwrap_or("");
        let is_number = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let number = digits.parse::<f64>().ok().filter(|_| is_number);
        let Some(number) = number.filter(|number| (0.0..100.0).contains(number) && *number > 0.0)
        else {
            // Users often write p999; suggest p99.9.
            return Err(match digits.strip_prefix("99") {
                Some(nines) if !nines.is_empty() && nines.chars().all(|c| c == '9') => {
                    format!(
                        "`{percentile}` is not a percentile below p100: did you mean p99.{nines}?"
                    )
                }
                _ => format!("`{percentile}` is not a percentile below p100: {example}"),
            });
        };
        let within = within.trim();
        if let Some(rest) = within.strip_prefix('=') {
            return Err(format!("write `<`, not `<=`: {percentile} < {}", rest.trim_start()));
        }
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
        write!(f, "{} < {}", self.percentile(), self.within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_round_trips_through_text() {
        let limit = Limit::parse("p99.9 < 2ms").unwrap();
        assert!((limit.share - 0.999).abs() < 1e-12);
        assert_eq!(limit.within, Nanos::from_millis(2));
        assert_eq!(limit.to_string(), "p99.9 < 2.00 ms");
        assert_eq!(limit.operations_needed(), 100_000);
        assert_eq!(Limit::parse("p50<1s").unwrap().operations_needed(), 200);
    }

    #[test]
    fn an_invalid_limit_is_rejected_with_what_is_missing() {
        let refused = |text: &str| Limit::parse(text).unwrap_err();
        assert!(refused("p99 < 2").contains("2ms"), "{}", refused("p99 < 2"));
        assert!(refused("99 < 2ms").contains("not a percentile"));
        assert!(refused("p100 < 2ms").contains("below p100"));
        assert!(refused("p99").contains("p99.9 < 2ms"));
        assert!(refused("p99 < 0ms").contains("above zero"));
    }

    fn ramp(length: Nanos, from_ops_per_s: f64, to_ops_per_s: f64) -> RatePiece {
        RatePiece { length, from_ops_per_s, to_ops_per_s }
    }

    #[test]
    fn a_mistyped_limit_gets_a_suggestion() {
        let refused = |text: &str| Limit::parse(text).unwrap_err();
        assert!(refused("p999 < 2ms").ends_with("did you mean p99.9?"));
        assert!(refused("p99 <= 2ms").ends_with("p99 < 2ms"));
        assert!(refused("p9.9e1 < 2ms").contains("not a percentile"));
    }

    #[test]
    fn arrivals_are_the_area_below_the_rate() {
        let arrivals = |rate: &Rate, seconds| rate.arrivals_within(Nanos::from_secs(seconds));
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6;
        assert!(near(arrivals(&Rate::constant(500.0), 10), 5000.0));
        let up = Rate::Pieces(vec![ramp(Nanos::from_secs(10), 100.0, 200.0)]);
        assert!(near(arrivals(&up, 5), 625.0), "half of the ramp");
        assert!(near(arrivals(&up, 20), 3500.0), "the last rate holds");
        let wave = Rate::Sine {
            mean_ops_per_s: 100.0,
            amplitude_ops_per_s: 50.0,
            period: Nanos::from_secs(4),
        };
        assert!(near(arrivals(&wave, 8), 800.0), "whole waves");
        assert!(near(arrivals(&wave, 2), 200.0 + 50.0 * 4.0 / std::f64::consts::PI));
    }

    #[test]
    fn a_rate_reports_when_it_stops_changing() {
        let span = Nanos::from_secs(10);
        assert_eq!(Rate::constant(5.0).changes_for(), Nanos(0));
        let up = Rate::Pieces(vec![ramp(span, 1.0, 2.0)]);
        assert_eq!(up.changes_for(), span);
        let steps = Rate::Pieces(vec![ramp(span, 1.0, 1.0), ramp(span, 2.0, 2.0)]);
        assert_eq!(steps.changes_for(), span, "the last rate has begun");
    }

    #[test]
    fn loads_are_formatted_as_text() {
        let open = |rate| Load::Open(OpenLoad { rate, pace: Pace::default() }).to_string();
        assert_eq!(open(Rate::constant(5e4)), "open loop, 50,000/s, poisson");
        let span = Nanos::from_secs(10);
        let up = Rate::Pieces(vec![ramp(span, 1e3, 2e3)]);
        assert_eq!(open(up), "open loop, ramp 1,000/s..2,000/s over 10.0 s, poisson");
        let mut steps = vec![ramp(span, 1e3, 1e3), ramp(span, 2e3, 2e3)];
        let even = open(Rate::Pieces(steps.clone()));
        assert_eq!(even, "open loop, steps 1,000/s 2,000/s every 10.0 s, poisson");
        steps.push(ramp(Nanos::SECOND, 500.0, 500.0));
        let uneven = Rate::Pieces(steps).to_string();
        assert_eq!(uneven, "500/s to 2,000/s in 3 pieces");
        let sine = Rate::Sine { mean_ops_per_s: 5e4, amplitude_ops_per_s: 2e4, period: span };
        assert_eq!(sine.to_string(), "sine 50,000/s +-20,000/s every 10.0 s");
        let pace = Pace { arrivals: Arrivals::Constant, pacing: Pacing::Spin };
        assert_eq!(Load::FindRate(pace).to_string(), "highest rate, constant, spin");
        assert_eq!(Load::FindClients.to_string(), "adaptive clients");
        assert_eq!(Load::Closed.to_string(), "closed loop");
        assert_eq!(Load::Pipelined(16).to_string(), "closed loop, 16 in flight per client");
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
