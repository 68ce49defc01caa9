//! The Universal Scalability Law (USL): throughput over clients.
//!
//! X(N) = g N / (1 + a (N - 1) + b N (N - 1)): g is the throughput of one client, a (contention)
//! the share of the work that cannot be done in parallel, b (coherency) what each pair of clients
//! costs. With b = 0 it is Amdahl's law, with a = b = 0 a straight line. Noise is multiplicative,
//! so the logarithm of throughput is fitted, each run counting once.
//!
//! Coherency is significant when the fit without it leaves more squares than the F-test of nested
//! models allows. Noise is taken from all runs, unless the lack of fit is significant: then the
//! levels' distances from the curve are the noise.
//!
//! Source: [Gunther 2007, chapters 4-6]; [Gunther 2008]. Nested models: [Bates Watts 1988, chapter
//! 3].

mod fit;
mod law;
mod least_squares;
mod sweep;
#[cfg(test)]
mod tests;

pub use fit::{LEVELS_NEEDED, fit};
pub use law::{Fit, NoFit, Observation, Peak, REACH};
