//! The rules, one per file.
//!
//! A rule is a function from a [`crate::repo::Repo`] to violations; it changes nothing.
//!
//! To add a rule: one file here, with its test, its `mod` line and its entry in [`RULES`].

mod children;
mod conformance;
mod cycles;
mod dependencies;
pub(crate) mod documents;
mod layers;
mod leftovers;
mod names;
mod reach;
pub(crate) mod registry;
mod reproduced;
mod sizes;
mod sources;
mod unsafe_code;
pub(crate) mod violation;
mod waivers;
mod words;

use violation::Check;

/// Every rule with the name printed behind its violations, in the order of their names.
pub(crate) const RULES: &[(&str, Check)] = &[
    ("children", children::check),
    ("conformance", conformance::check),
    ("cycles", cycles::check),
    ("dependencies", dependencies::check),
    ("documents", documents::check),
    ("layers", layers::check),
    ("leftovers", leftovers::check),
    ("names", names::check),
    ("reach", reach::check),
    ("reproduced", reproduced::check),
    ("sizes", sizes::check),
    ("sources", sources::check),
    ("unsafe", unsafe_code::check),
    ("waivers", waivers::check),
    ("words", words::check),
];
