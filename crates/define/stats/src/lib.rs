//! Statistics for benchmarks: pure functions of numbers.
//!
//! No record, file or clock: the search, the runner and the analyses call these functions, so that
//! each formula exists once. Distributions of general use come from `statrs`.
//!
//! Invariants: the same numbers give the same result, in any order where order has no meaning;
//! every public function names its `Source:` and is tested against a published worked example or an
//! independent implementation; what cannot be computed is `None`, never 0 and never a panic.
//!
//! To add a statistic, add a file for its subject, with its source and its worked example.

pub mod change;
pub mod detectable;
pub mod distribution;
pub mod effect;
pub mod effect_test;
pub mod family;
pub mod loads;
pub mod machines;
pub mod means;
pub mod paired;
pub mod pelt;
pub mod planning;
pub mod prior;
pub mod proportion;
pub mod rank;
pub mod rounds;
pub mod sample;
pub mod series;
pub mod shares;
pub mod testing;
pub mod time_profile;

pub use effect::{Effect, Interval, Method, SecondEstimate, Verdict, Why};
pub use effect_test::{Design, classify_difference};
pub use means::{MeanDifference, difference};
pub use prior::{CellVariance, Prior, Variation};
pub use sample::{Estimate, Spread, geometric_mean, mean_of_runs, median, quantile};
pub use shares::{CommonFactor, RunCounts, ShareComparison, ShareDifference, compare_shares};
