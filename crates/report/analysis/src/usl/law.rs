//! The law, its fit and the peak.

use serde::Serialize;

/// Furthest extrapolation of the curve, as a multiple of measured clients.
///
/// Our choice: an extrapolated [Gunther 2008] fit is unreliable.
pub const REACH: f64 = 1.5;

/// Throughput of one run at one number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Observation {
    /// Clients, >= 1.
    pub clients: u32,
    /// Operations per second, > 0.
    pub ops_per_s: f64,
}

/// The law fitted to one sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// Throughput of one client, operations per second.
    pub gamma: f64,
    /// Contention, >= 0.
    pub alpha: f64,
    /// Coherency, >= 0.
    pub beta: f64,
    /// p-value of the test that coherency is zero.
    pub coherency_p: f64,
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
    At(f64),
    /// No peak within the measured range: coherency is not significant, or no level lies beyond the
    /// fitted peak.
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

/// Largest p-value of a significant test.
///
/// Our choice: 5 %, as of all tests.
pub(super) const SIGNIFICANT: f64 = 0.05;

impl Fit {
    /// Returns whether throughput is known to fall beyond some number of clients.
    pub fn has_coherency(&self) -> bool {
        self.coherency_p < SIGNIFICANT
    }

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
        let slowed = 1.0 + self.alpha * others + self.beta * clients * others;
        Some(self.gamma * clients / slowed)
    }
}
