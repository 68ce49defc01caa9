//! Sources of engine builds.
//!
//! A source does not cache and does not check hashes; the store does. To add a source, write one
//! file here with a [`Source`] and add its line to [`registry`].

mod apt;
mod client;
mod crates;
mod debian;
mod distribution;
mod limits;
mod maven;
mod npm;
mod registry;
mod source_trait;
mod unpack;

pub(crate) use apt::with_missing_libraries;
pub use client::Client;
use client::{client_failed, no_client};
pub(crate) use crates::{Packages, WantedCrate, obtain};
pub use debian::Debian;
pub use distribution::Distribution;
pub(crate) use distribution::headers_package;
pub use maven::Maven;
pub use npm::Npm;
pub(crate) use registry::registry;
pub use source_trait::{Fetched, Offer, Progress, Source};
pub(crate) use source_trait::{no_source, not_for_machine};
