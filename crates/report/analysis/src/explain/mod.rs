//! Explanation of a difference: accounting, association, cause.
//!
//! Each component is measured by itself; the residual is what they do not account for, and a large
//! one rules out any explanation. There are three levels, in this order: where the time is
//! (accounting), what else moved in the same runs (association), and what made the difference
//! (cause); the last only where the variants differ in one thing that was set on purpose.
//!
//! Source: [Pearl 2009, chapter 3]: a cause takes an intervention; the accounts name their own
//! sources.
//!
//! To add a component, add a [`Part`] and its account in `account`; to add a metric that may move,
//! add a line to `moved`; to add a reason for no explanation, add it to `refusal`.

mod account;
mod bound;
mod declared;
mod explanation;
mod functions;
mod identity;
mod moved;
mod network;
mod question;
mod refusal;
#[cfg(test)]
mod tests;
mod waiting;
mod waits;

pub use account::{Account, Component, Part, Subject};
pub use bound::{BINDS_FROM, Bound, Resource};
pub use declared::{Change, ChangeKind, Declared};
pub use explanation::{Explanation, Rung};
pub use functions::StepProfiles;
pub use identity::{Factor, Identity};
pub use moved::{Moved, SettleCost};
pub use network::{Network, NetworkCost, RoundTrip};
pub use question::{Question, explain};
pub use refusal::{Refusal, Rule};
pub use waiting::Wait;
pub(crate) use waiting::waiting;
pub use waits::{WaitAccount, WaitPart};
