//! Which comparisons are told together, and what their number does to the verdicts.

use serde::Serialize;

/// The comparisons of an experiment by what they are for; each part is adjusted by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Families {
    /// Each step's own question ([`crate::StepComparison::primary`]), for each variant.
    pub primary: Family,
    /// Every other metric that is better one way, for each step and variant.
    pub secondary: Family,
}

/// Comparisons that are judged together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Family {
    /// Comparisons in it.
    pub comparisons: u32,
    /// Of these, told apart from no difference when looked at alone.
    pub apart: u32,
    /// Of these again, no longer told apart among so many.
    pub withdrawn: u32,
}
