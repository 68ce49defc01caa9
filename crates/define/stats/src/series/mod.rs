//! Series of seconds, each like the one before it: means and slopes that know it.
//!
//! All limits are two-sided at 95 %: each side is missed once in forty.

pub mod correlation;
pub mod mean;
pub mod trend;

pub use correlation::inflation;
pub use mean::{Mean, mean};
pub use trend::{Trend, drift, trend};
