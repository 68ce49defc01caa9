//! Sources of engine builds.
//!
//! A source does not cache and does not check hashes; the store does. To add a source, write one
//! file here with a [`Source`], and add its `mod` line and its entry in [`SOURCES`].

mod apt;
mod client;
mod crates;
mod debian;
mod distribution;
mod limits;
mod maven;
mod npm;
mod source_trait;
mod unpack;

pub(crate) use apt::with_missing_libraries;
pub use client::Client;
pub(crate) use client::{client_failed, no_client};
pub(crate) use crates::{Packages, WantedCrate, obtain};
pub use debian::Debian;
pub use distribution::Distribution;
pub(crate) use distribution::headers_package;
pub use maven::Maven;
pub use npm::Npm;
pub use source_trait::{Fetched, Offer, Progress, Source};

/// Makes every source, in order of precedence.
pub(crate) const SOURCES: &[fn() -> Box<dyn Source>] = &[
    || Box::new(Distribution::default()),
    || Box::new(Npm::default()),
    || Box::new(Maven::default()),
    || Box::new(Debian),
];
