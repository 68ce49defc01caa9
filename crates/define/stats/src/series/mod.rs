//! Means and slopes of autocorrelated series.
//!
//! All limits are two-sided at 95 %.

pub mod correlation;
pub mod mean;
pub mod trend;

pub use correlation::inflation;
pub use mean::{Mean, mean};
pub use trend::{Trend, drift, trend};
