//! What the Maven client fetches: RocksDB's native library, and servers.
//!
//! The library lies in RocksDB's official Java artifact. Most releases carry the natives of all
//! machines in the main jar; some (10.4.2) only in one jar per machine, under a classifier; some
//! (11.8.1) have no classifiers. So the main jar is looked into first and the classifier asked for
//! second.
//!
//! `client` runs Maven, `output` understands what it says, `jar` unpacks what it brought; `fetch`
//! knows the artifacts of RocksDB, `servers` those of servers.

mod client;
mod fetch;
mod jar;
mod output;
mod servers;

pub use fetch::Maven;
pub(super) use output::without_addresses;
pub use servers::MavenServers;
