//! Every rule.

use crate::rule::{self, Rule};

/// Every rule, by code.
pub static RULES: &[&Rule] = &[
    &rule::A001,
    &rule::A003,
    &rule::A004,
    &rule::A008,
    &rule::A009,
    &rule::A010,
    &rule::A011,
    &rule::A014,
    &rule::A021,
    &rule::A027,
    &rule::A031,
    &rule::A039,
    &rule::A041,
    &rule::A042,
    &rule::A043,
    &rule::A044,
    &rule::A045,
    &rule::A051,
];

/// Returns every rule, by code.
#[must_use]
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// Returns the rule of that code, whatever its case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(code))
}
