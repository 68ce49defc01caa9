//! Where the time of an operation goes, and what of a difference between two variants that
//! accounts for.
//!
//! Each component is measured by itself, so that their sum need not be the whole: what is left is
//! the residual, and it decides whether anything may be said at all. Three things may be said, in
//! this order: where the time is (accounting), what else moved in the same runs (association), and
//! what made the difference (cause); the last only where the variants differ in one thing that was
//! set on purpose.
//!
//! Source: the project's reference, analysis, section 6.
//!
//! To add a component, add a [`Part`] and its account in `account`; to add something that may have
//! moved, add a line to `moved`; to add a reason to say nothing, add it to `refusal`.

mod account;
mod bound;
mod declared;
mod explanation;
mod identity;
mod moved;
mod question;
mod refusal;
#[cfg(test)]
mod tests;

pub use account::{Account, Component, Part};
pub use bound::{BINDS_FROM, Bound, Resource};
pub use declared::{Change, ChangeKind, Declared};
pub use explanation::{Explanation, Rung, Subject};
pub use identity::{Factor, Identity};
pub use moved::Moved;
pub use question::{Question, explain};
pub use refusal::{Refusal, Rule};
