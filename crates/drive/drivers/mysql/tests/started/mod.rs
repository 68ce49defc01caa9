//! Servers that tests start, each once for a whole file of tests.

mod databases;
mod server;

#[expect(unused_imports, reason = "not every file of tests has all of them")]
pub(crate) use {
    databases::Databases,
    server::{Server, data, start},
};
