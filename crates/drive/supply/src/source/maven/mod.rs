//! Maven sources: RocksDB's native library, and servers.
//!
//! The library is in RocksDB's official Java artifact. Most releases carry the natives of all
//! machines in the main jar; some (10.4.2) only in one jar per machine, under a classifier; some
//! (11.8.1) have no classifiers. So the main jar comes first and the classifier second.
//!
//! `client` runs Maven, `failure` classifies its errors, `jar` extracts the library; `fetch` has
//! the artifacts of RocksDB, `servers` those of servers.

mod client;
mod failure;
mod fetch;
mod jar;
mod request;
mod servers;

pub(super) use failure::without_addresses;
pub use fetch::Maven;
pub use servers::MavenServers;
