//! The statistics of one probe: intervals from few, correlated seconds.
//!
//! All limits are two-sided at 95 %: each side is missed once in forty.
//!
//! To add a statistic, add a function with its `Source:`.

mod correlation;
mod mean;
#[cfg(test)]
pub(crate) mod noise;
mod proportion;
mod student;
mod trend;

pub(crate) use mean::{Mean, mean};
pub(crate) use proportion::{Block, Share, share};
pub(crate) use trend::{drift, trend};
