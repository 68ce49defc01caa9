//! The rules: a file each, named after code and subject.
//!
//! A code `A0nn` is that of rule `Lnn` in the project's reference, analysis, section 7; codes from
//! `A041` on are Assay's own.

mod a001_durability;
mod a027_too_short;
mod a039_one_run;
mod define;

pub(crate) use a001_durability::RULE as A001;
pub(crate) use a027_too_short::RULE as A027;
pub(crate) use a039_one_run::RULE as A039;
pub use define::Rule;
pub(crate) use define::Seen;
