//! The rules, one per file.
//!
//! A rule is a function from a [`crate::Repo`] to violations; it changes nothing.
//!
//! To add a rule: one file here, with its test, and one line in [`registry::RULES`].

pub mod ascii;
pub mod conformance;
pub mod cycles;
pub mod dependencies;
pub mod documents;
pub mod glossary;
pub mod layers;
pub mod leftovers;
pub mod names;
pub mod places;
pub mod reach;
pub mod registry;
pub mod sizes;
pub mod sources;
pub mod violation;
pub mod words;
