//! Sources: the places engine builds are fetched from.
//!
//! A source does not cache and does not check hashes; the store does. To add a source, write one
//! file here with a [`Source`] and add its line to [`registry`].

mod crates;
mod distribution;
mod maven;
mod source_trait;

pub(crate) use crates::{Packages, WantedCrate, obtain};
pub use distribution::Distribution;
pub(crate) use distribution::headers_package;
pub use maven::Maven;
pub(crate) use source_trait::registry;
pub use source_trait::{Fetched, Progress, Source};
