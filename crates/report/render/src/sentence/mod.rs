//! The headline of each step, worded by its verdict.
//!
//! Verdicts come with the comparison. Where none may be drawn, the sentence names the rule. Notes
//! that hold for all steps stand once per text: [`detectable`], [`control`], [`warmup_trims`].
//!
//! To add a metric, add its wording to [`claim`].

mod claim;
mod control;
mod detectable;
mod hidden;
mod levels;
mod phrase;
mod several;
mod single;
mod step;
mod warmup_trim;

pub(crate) use claim::Claim;
pub(crate) use control::control;
pub(crate) use detectable::detectable;
pub(crate) use hidden::hidden;
pub(crate) use levels::levels;
pub(crate) use phrase::{capital, list};
pub(crate) use single::Single;
pub(crate) use step::{step_sentence, step_sentences};
pub(crate) use warmup_trim::warmup_trims;

#[cfg(test)]
pub(crate) mod testing;
