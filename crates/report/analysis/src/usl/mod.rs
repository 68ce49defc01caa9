//! The Universal Scalability Law: throughput as a function of the number of clients.
//!
//! X(N) = g N / (1 + a (N - 1) + b N (N - 1)): g is the throughput of one client, a (contention)
//! the share of the work that cannot be done in parallel, b (coherency) what each pair of clients
//! costs. With b = 0 it is Amdahl's law, with a = b = 0 a straight line. Noise is multiplicative,
//! so what is fitted is the logarithm of throughput, each run counting once.
//!
//! Intervals are those of the profile likelihood with unknown noise: the values at which the best
//! fit of all else leaves no more than s^2 F(0.95; 1, n - 3) of additional squares. An interval
//! that touches zero means that the data do not tell the parameter from zero. Noise is taken from
//! all runs, unless the levels lie further from the curve than runs of one level lie from each
//! other: then the law is only roughly right, and the levels' distances are the noise.
//!
//! Source: N. J. Gunther, 2007, "Guerrilla Capacity Planning", chapters 4-6; 2008, "A General
//! Theory of Computational Scalability Based on Rational Functions", arXiv 0808.1431. Intervals:
//! D. J. Venzon and S. H. Moolgavkar, 1988, "A Method for Computing Profile-Likelihood-Based
//! Confidence Intervals", Applied Statistics 37(1); D. M. Bates and D. G. Watts, 1988, "Nonlinear
//! Regression Analysis and Its Applications", chapter 6.

mod fit;
mod interval;
mod law;
mod least_squares;
mod profile;
mod sweep;
#[cfg(test)]
mod tests;

pub use fit::{LEVELS_NEEDED, fit};
pub use law::{Estimate, Fit, NoFit, Observation, Peak, REACH, Shape, Shapes};
