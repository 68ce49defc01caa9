//! The arithmetic of benchmarks: pure functions from numbers to numbers.
//!
//! It knows no record, no file and no clock; whoever has figures (a search, the runner, an
//! analysis) asks here, so that no formula stands twice. Statistics of general use come from
//! `statrs`.
//!
//! Invariants: the same numbers always give the same answer, whatever their order was where order
//! has no meaning; every public function names its `Source:` and is tested against a published
//! worked example or an independent implementation; what cannot be computed is `None`, never 0 and
//! never a panic.
//!
//! To add a statistic, add a file for its subject, with its source and its worked example.

pub mod course;
pub mod effect;
pub mod means;
pub mod pelt;
pub mod prior;

pub use effect::{Beside, Design, Effect, Interval, Method, Verdict, Why, judge};
pub use means::{MeanDifference, difference};
pub use prior::{CellVariance, Prior};
