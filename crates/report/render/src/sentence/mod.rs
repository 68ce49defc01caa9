//! What each step shows, in plain English that claims no more than the runs show.
//!
//! Not a judge: verdicts come with the comparison; what a sentence may say follows from them. Where
//! no verdict may be drawn, a sentence says so and gives the rule.
//!
//! To add a metric that sentences are about, add its words to [`claim`].

mod claim;
mod control;
mod design;
mod hidden;
mod levels;
mod several;
mod single;
mod step;
mod warmup_trim;

pub(crate) use claim::Claim;
pub(crate) use control::control;
pub(crate) use design::unseen;
pub(crate) use hidden::hidden;
pub(crate) use levels::levels;
pub(crate) use single::Single;
pub(crate) use step::{list, step_sentence, told};
pub(crate) use warmup_trim::cut;

#[cfg(test)]
pub(crate) mod sample;
