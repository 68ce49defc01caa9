//! Tests of whole experiments, and the catalog and file that all tests use.

mod hosts;
mod places;
pub(crate) mod sample;
mod secrets;
mod server;
