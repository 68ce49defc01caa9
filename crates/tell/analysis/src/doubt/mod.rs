//! What a reader must know before using a comparison: seen, with figures, and what to do.
//!
//! Not lint: these are the doubts a comparison cannot be read without. What the runner saw in one
//! step (a writer that fell behind, a capped settle, failed operations) is in the record already
//! and is passed on. What is doubtful by design (classes that differ, few repetitions) the planner
//! finds before anything is run. Rules with codes and evidence live in the lint crate once it
//! exists; a code `A0nn` is that of rule `Lnn` in the project's reference, analysis, section 7.
//!
//! To add one, add a function to the file of its subject and a line to [`all`].

mod client;
mod engine;
mod list;
mod place;
mod record;
mod search;

pub use list::{Doubt, all};
