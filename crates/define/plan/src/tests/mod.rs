//! Tests of whole experiments, and the catalog and file that all tests use.

pub(crate) mod sample;
mod secrets;
mod server;
