//! Tests of whole experiments, and the catalog and file that all tests use.

mod places;
pub(crate) mod sample;
mod secrets;
mod server;
