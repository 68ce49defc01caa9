//! Supply: obtains engine builds and keeps them, so that a run needs no network.
//!
//! A build is a library, or a server: a program amid its files.
//!
//! This crate does not load a library and does not know what an engine can do; what it must know
//! of engines it is told ([`Engines`]). It stands before the drivers in the flow: a
//! [`model::BuildRef`] goes in, the path of a checked library comes out.
//!
//! Invariants: an entry of the cache is complete or absent (it is renamed into place); a library
//! is handed out only after its SHA-256 was compared; one of the user's own, one compiled here and
//! one behind a shim is kept only when it has turned out to work; one process at a time works on a
//! build; what is in the cache is found without network.
//!
//! To add a source of builds, write one file under `source/` with a [`Source`] and add its line to
//! `source::registry`.

mod artifact;
mod compile;
mod engines;
mod entry;
mod error;
mod fit;
mod keep;
mod library;
mod offer;
mod release;
mod server;
mod source;
mod store;
pub mod testing;

pub use artifact::{Artifact, Tree};
pub use compile::{CompileEvent, CompileOrder, compilable};
pub use engines::{Engines, SmokeTest};
pub use error::SupplyError;
pub use release::{KNOWN_ROCKSDB, nearest_release};
pub use server::{MARIADB, MYSQL, POSTGRES, ServerProgram};
pub use source::{
    Debian, Distribution, Fetched, Installed, Maven, MavenServers, Npm, Progress, Source,
};
pub use store::{Own, Store, default_cache_dir};
