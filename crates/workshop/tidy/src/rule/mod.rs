//! The rules, one per file.
//!
//! A rule is a function from a [`crate::repo::Repo`] to violations; it changes nothing.
//!
//! To add a rule: one file here, with its test, and one line in [`registry::RULES`].

pub(crate) mod children;
pub(crate) mod conformance;
pub(crate) mod cycles;
pub(crate) mod dependencies;
pub(crate) mod documents;
pub(crate) mod layers;
pub(crate) mod leftovers;
pub(crate) mod names;
pub(crate) mod reach;
pub(crate) mod registry;
pub(crate) mod reproduced;
pub(crate) mod sizes;
pub(crate) mod sources;
pub(crate) mod unsafe_code;
pub(crate) mod violation;
pub(crate) mod waivers;
pub(crate) mod words;
