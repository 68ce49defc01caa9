//! The native library inside RocksDB's official Java artifact, fetched by the Maven client.
//!
//! Most releases carry the natives of all machines in the main jar; some (10.4.2) only in one jar
//! per machine, under a classifier; some (11.8.1) have no classifiers. So the main jar is looked
//! into first and the classifier asked for second.
//!
//! `fetch` runs the client, `output` understands what it says, `jar` unpacks what it brought.

mod fetch;
mod jar;
mod output;

pub use fetch::Maven;
pub(super) use output::without_addresses;
