//! Search for the highest rate that meets a limit and is sustained.
//!
//! [`RateSearch`] requests probes, tests them and keeps the record; [`bisection`] chooses the next
//! rate from those that passed and failed.

mod bisection;
mod search;
mod spec;
#[cfg(test)]
mod tests;

pub use search::RateSearch;
pub use spec::RateSpec;
