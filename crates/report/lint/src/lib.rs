//! Rules that find what makes a benchmark unreliable or bogus.
//!
//! A rule reads a plan, a run or a comparison and returns observations with figures and remedy; it
//! computes no statistics and formats no page. The crate stands between `analysis` and `render`.
//!
//! Invariants: a rule without evidence returns nothing; it never guesses. The same records give the
//! same findings in the same order. Only a waiver of the experiment sets a finding aside, and a
//! waived finding stays in the list.
//!
//! To add a rule, add a file under `rule/`, and its `mod` line and its entry in
//! `rule/mod.rs`.

pub mod apply;
pub mod context;
mod difference;
mod facts;
pub mod finding;
mod grouping;
pub mod label;
pub mod registry;
pub mod rule;

#[cfg(test)]
mod testing;

pub use apply::{check_comparison, check_plan, check_run};
pub use context::{ComparisonContext, PlanContext, RunContext};
pub use finding::{LintFinding, Place};
pub use label::{block_verdicts, comparison_label, label, run_label};
pub use registry::{find, has_rule, rules};
pub use rule::{CONTROL, Checks, INCOMPLETE, Origin, Rule, moments};
