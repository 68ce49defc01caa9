//! The headline of each step by its verdicts, and notes that stand once per text.
//!
//! Verdicts come with the comparison. Where none may be drawn, the headline names the rule.
//!
//! To add a metric, add its wording to [`claim`].

mod claim;
mod note;
mod phrase;
mod step;
mod undecided;

pub(crate) use claim::Claim;
pub(crate) use note::{control, detectable, hidden, warmup_trims};
pub(crate) use phrase::{grouped, list};
pub use step::step_sentences;
pub(crate) use step::{RatioStyle, claim_sentences, clause, levels, plain, step_sentence};
pub(crate) use undecided::undecided;

#[cfg(test)]
pub(crate) mod testing;
