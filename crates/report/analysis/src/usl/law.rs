//! The law, its fit and the peak.

use serde::Serialize;

/// Furthest extrapolation of the curve, as a multiple of measured clients.
///
/// Our choice: beyond it the interval of the curve is wider than its use.
pub const REACH: f64 = 1.5;

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
    pub gamma: f64,
    /// Contention, >= 0.
    pub alpha: Estimate,
    /// Coherency, >= 0.
    pub beta: Estimate,
    /// Where throughput is highest, if measured.
    pub peak: Peak,
    /// Typical distance of a run from the curve, as a share.
    pub residual: f64,
    /// p-value of the lack-of-fit test; absent without repetitions.
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

impl Fit {
    /// Returns the curve's throughput at `clients`, operations per second.
    ///
    /// `None` below one client and beyond [`REACH`] times the most that were measured.
    ///
    /// Source: the formula at the head of [`crate::usl`].
    pub fn ops_per_s(&self, clients: f64) -> Option<f64> {
        if !(1.0..=REACH * f64::from(self.most_clients)).contains(&clients) {
            return None;
        }
        let others = clients - 1.0;
        let slowed = 1.0 + self.alpha.value * others + self.beta.value * clients * others;
        Some(self.gamma * clients / slowed)
    }
}
