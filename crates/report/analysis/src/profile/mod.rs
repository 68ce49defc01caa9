//! CPU of an operation by function: flame graphs, and which functions differ between two variants.
//!
//! A stack costs its share of the samples times the measured CPU per operation, so that costs add
//! up to what the counters measured (`flame`).
//!
//! A flame graph's difference does not separate noise from change. Repetitions are replicate
//! profiles, so that differences have intervals, adjusted for the number of functions, and add up
//! to the difference of the whole.
//!
//! Between releases functions are renamed, inlined and split. Names are normalised (`name`); a
//! function that one side lacks counts for its nearest caller that both sides have (`unit`); cost
//! that moved between related functions is tested as a sum (`shift`).
//!
//! Source: [Gregg 2014], flame graphs of differences. `stats::shares` has the test.

mod flame;
mod functions;
mod group;
mod hottest;
mod name;
mod prune;
mod shift;
mod side;
mod stored;
#[cfg(test)]
mod tests;
mod unit;

pub use flame::{FlameGraph, FlameNode, KnownFrames, NodeKind, Us, flame_graph};
pub use functions::{FunctionAccount, FunctionCost, FunctionDifference, LeftOut, compare};
pub use group::{Group, Scope};
pub use hottest::{HotFunction, hottest_functions};
pub use name::FunctionName;
pub use prune::{Gone, PRUNED_BELOW, PrunedFlame};
pub use side::{ProfiledRun, Side, sampled_differently};
pub use stored::{Place, StepProfile};
