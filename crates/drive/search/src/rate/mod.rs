//! The search for the highest rate that meets a limit and can be sustained.
//!
//! [`RateSearch`] asks, judges and keeps the record; [`course`] decides from rates that passed and
//! failed which comes next.

mod course;
mod ending;
mod search;
mod spec;
#[cfg(test)]
mod tests;

pub use search::RateSearch;
pub use spec::RateSpec;
