//! The rules, one per file: each a function of a repository that returns its violations.
//!
//! A rule mends nothing and reads nothing but the [`crate::Repo`] it is given.
//!
//! To add a rule: one file here, with its test, and one line in [`registry::RULES`].

pub mod ascii;
pub mod conformance;
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
