//! Sources: the places engine builds are fetched from.
//!
//! A source does not cache and does not check hashes; the store does. To add a source, write one
//! file here with a [`Source`] and add its line to [`registry`].

mod distribution;
mod maven;
mod source_trait;

pub use distribution::Distribution;
pub use maven::Maven;
pub(crate) use source_trait::registry;
pub use source_trait::{Fetched, Progress, Source};
