//! Says what makes a benchmark doubtful or bogus: one rule per file, at three moments.
//!
//! It is not a statistic and not a formatter: rules read plans, records and comparisons, and say
//! what they saw, with the figures and the remedy. It stands between `analysis` and `report`.
//!
//! Invariants: a rule whose evidence is absent says nothing; it never guesses. The same records
//! give the same findings in the same order. Nothing is set aside but by a waiver in the
//! experiment, and a waived finding stays in the list.
//!
//! To add a rule, add a file under `rule/` and its line in [`registry::RULES`].

pub mod check;
pub mod context;
pub mod found;
mod gather;
mod look;
pub mod registry;
pub mod rule;

#[cfg(test)]
mod testing;

pub use check::{check_comparison, check_plan, check_run};
pub use context::{ComparisonContext, PlanContext, RunContext};
pub use found::{LintFinding, Place, label};
pub use registry::{find, rules};
pub use rule::Rule;
