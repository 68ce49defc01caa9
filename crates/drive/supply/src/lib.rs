//! Obtains and caches engine builds, so that runs need no network.
//!
//! A build is a library, or a server: a program with its files.
//!
//! This crate loads no library and knows no engine: callers describe engines through [`Engines`].
//! It stands before the drivers in the flow: a [`model::BuildRef`] goes in, the path of a checked
//! library comes out.
//!
//! Invariants: an entry of the cache is complete or absent (it is renamed into place); a library is
//! handed out only after its SHA-256 was compared; a user's library, one compiled here and one
//! behind a shim is cached only after its smoke test passed; one process at a time works on a
//! build; the cache is read without network.
//!
//! To add a source of builds, see `source`.

mod artifact;
mod commit;
mod compile;
mod engines;
mod entry;
mod error;
mod library;
mod offer;
mod program;
mod release;
mod server;
mod shims;
mod source;
mod store;
pub mod testing;

pub use crate::server::{Files, MARIADB, MYSQL, POSTGRES, ServerProgram, Tree};
pub use artifact::Artifact;
pub use compile::{CompileEvent, CompileOrder, compilable};
pub use engines::{CheckRoom, Engines, SmokeTest};
pub use entry::remove_unfinished;
pub use error::{Result, SupplyError};
pub use source::{Client, Debian, Distribution, Fetched, Maven, Npm, Offer, Progress, Source};
pub use store::{Store, UserBuild, cached_engines, default_cache_dir};
