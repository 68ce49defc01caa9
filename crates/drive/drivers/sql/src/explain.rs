//! How servers explain statements, and count them.

use model::StatementTotals;

/// How a server explains a statement: prefixes, the first that it takes is used.
#[derive(Debug, Clone, Copy)]
pub struct Explain {
    /// Returns the plan.
    pub plan: &'static str,
    /// Executes the statement, and returns the plan with what it did.
    pub executed: &'static [&'static str],
    /// Returns the access paths in the rows of a plan, without values and estimates.
    pub paths: fn(&[Vec<String>]) -> String,
}

/// Totals of a statement by its text.
pub type TextTotals = (String, StatementTotals);
